/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that outlive calls and files. */
#include "fcoll_tatp.h"

#include <stdlib.h>

tatp_buffers *tatp_buffers_take(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    OPAL_THREAD_LOCK(&c->lock);
    tatp_buffers *buffers = c->idle_buffers;
    if (NULL != buffers)
        c->idle_buffers = buffers->next;
    OPAL_THREAD_UNLOCK(&c->lock);
    return NULL != buffers ? buffers : calloc(1, sizeof *buffers);
}

void tatp_buffers_put_back(tatp_buffers *buffers)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    if (NULL == buffers)
        return;
    OPAL_THREAD_LOCK(&c->lock);
    buffers->next = c->idle_buffers;
    c->idle_buffers = buffers;
    OPAL_THREAD_UNLOCK(&c->lock);
}

void tatp_buffers_release(void)
{
    tatp_buffers *buffers;
    while (NULL != (buffers = mca_fcoll_tatp_component.idle_buffers)) {
        mca_fcoll_tatp_component.idle_buffers = buffers->next;
        for (int i = 0; i < TATP_DEPTH; i++) {
            free(buffers->window[i].data);
            free(buffers->inbox[i].data);
            free(buffers->outbox[i].data);
        }
        free(buffers);
    }
}

int tatp_buffer_reserve(tatp_buffer *buffer, size_t size)
{
    if (size <= buffer->size)
        return OMPI_SUCCESS;
    free(buffer->data);
    buffer->data = malloc(size);
    buffer->size = NULL == buffer->data ? 0 : size;
    return NULL == buffer->data ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}
