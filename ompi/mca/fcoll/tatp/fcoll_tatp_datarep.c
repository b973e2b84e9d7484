/* SPDX-License-Identifier: BSD-3-Clause */
/* Data representations other than the native one. OMPIO converts for blocking calls only; a
 * non-blocking one converts here, between the user's buffer and one of the file's representation.
 */
#include <errno.h>
#include <stdlib.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_device.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_process.h"
#include "opal/datatype/opal_convertor.h"

struct tatp_datarep {
    bool write;
    char *converted;                  /* the data in the file's representation */
    struct ompi_datatype_t *datatype; /* of the user's buffer; its owner may free it meanwhile */
    opal_convertor_t convertor;
};

bool tatp_datarep_is_needed(const ompio_file_t *fh, const struct ompi_datatype_t *datatype)
{
    return !(fh->f_flags & OMPIO_DATAREP_NATIVE) && MPI_BYTE != datatype && MPI_CHAR != datatype;
}

/* The convertor of a buffer, and the bytes in the file's representation. */
static int prepare_convertor(tatp_datarep *datarep, ompio_file_t *fh, const void *buf, size_t count,
                             size_t *bytes)
{
    opal_convertor_t *convertor = &datarep->convertor;
    const struct opal_datatype_t *datatype = &datarep->datatype->super;
    int rc = datarep->write
                 ? opal_convertor_copy_and_prepare_for_send(fh->f_file_convertor, datatype,
                                                            (size_t)count, buf,
                                                            CONVERTOR_SEND_CONVERSION, convertor)
                 : opal_convertor_copy_and_prepare_for_recv(fh->f_file_convertor, datatype,
                                                            (size_t)count, buf, 0, convertor);
    if (OPAL_SUCCESS == rc)
        opal_convertor_get_packed_size(convertor, bytes);
    return tatp_from_ompi(rc);
}

static int pack_data(tatp_datarep *datarep, size_t bytes)
{
    struct iovec whole = {datarep->converted, bytes};
    uint32_t count = 1;
    size_t packed = bytes;
    if (opal_convertor_pack(&datarep->convertor, &whole, &count, &packed) < 0 || packed != bytes)
        return MPI_ERR_CONVERSION;
    return OMPI_SUCCESS;
}

/* Open MPI converts with the processor, and a device's memory is not accessible to it. */
static int refuse_device(ompio_file_t *fh, const tatp_buffer *buffer)
{
    access_list memory = {0};
    int rc = tatp_memory_layout(fh, buffer, &memory);
    if (OMPI_SUCCESS == rc && access_device_has(&tatp_device, &memory)) {
        coll_show(tatp_process(), COLL_TEXT_DEVICE_DATAREP, fh->f_filename);
        rc = MPI_ERR_UNSUPPORTED_OPERATION;
    }
    access_release(&memory);
    return rc;
}

int tatp_datarep_begin(ompio_file_t *fh, bool write, const tatp_buffer *buffer, access_list *memory,
                       tatp_datarep **result)
{
    size_t bytes = 0;
    int rc = refuse_device(fh, buffer);
    if (OMPI_SUCCESS != rc)
        return rc;
    tatp_datarep *datarep = *result = calloc(1, sizeof *datarep);
    if (NULL == datarep)
        return -ENOMEM;
    datarep->write = write;
    datarep->datatype = buffer->datatype;
    OBJ_RETAIN(datarep->datatype);
    OBJ_CONSTRUCT(&datarep->convertor, opal_convertor_t);
    rc = prepare_convertor(datarep, fh, buffer->address, buffer->count, &bytes);
    if (OMPI_SUCCESS == rc) {
        datarep->converted = malloc(bytes + 1);
        rc = NULL == datarep->converted ? -ENOMEM : OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS == rc && write)
        rc = pack_data(datarep, bytes);
    if (OMPI_SUCCESS == rc)
        rc = access_append_memory(memory, datarep->converted, bytes);
    return rc;
}

int tatp_datarep_end(tatp_datarep *datarep, int64_t moved)
{
    size_t bytes = (size_t)moved;
    struct iovec read = {datarep->converted, bytes};
    uint32_t count = 1;
    if (datarep->write || 0 == bytes)
        return OMPI_SUCCESS;
    if (opal_convertor_unpack(&datarep->convertor, &read, &count, &bytes) < 0)
        return MPI_ERR_CONVERSION;
    return OMPI_SUCCESS;
}

void tatp_datarep_free(tatp_datarep *datarep)
{
    if (NULL == datarep)
        return;
    opal_convertor_cleanup(&datarep->convertor);
    OBJ_DESTRUCT(&datarep->convertor);
    OBJ_RELEASE(datarep->datatype);
    free(datarep->converted);
    free(datarep);
}
