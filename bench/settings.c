/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a variable; 0 for types that no settings have. */
static size_t type_width(mca_base_var_type_t type)
{
    switch (type) {
    case MCA_BASE_VAR_TYPE_INT: return sizeof(int);
    case MCA_BASE_VAR_TYPE_LONG: return sizeof(long);
    case MCA_BASE_VAR_TYPE_SIZE_T: return sizeof(size_t);
    case MCA_BASE_VAR_TYPE_BOOL: return sizeof(bool);
    case MCA_BASE_VAR_TYPE_STRING: return sizeof(char *);
    default: return 0;
    }
}

bool variable_find(const char *framework, const char *component, const char *name, variable *v)
{
    const mca_base_var_t *known;
    int index = mca_base_var_find("ompi", framework, component, name);
    if (index < 0 || mca_base_var_get(index, &known) != OPAL_SUCCESS ||
        mca_base_var_get_value(index, &v->storage, NULL, NULL) != OPAL_SUCCESS)
        return false;
    v->type = known->mbv_type;
    v->width = type_width(v->type);
    v->names = known->mbv_enumerator;
    memcpy(&v->before, v->storage, v->width);
    return true;
}

const char *variable_set(const variable *v, char *text)
{
    mca_base_var_storage_t value;
    if (v->names != NULL) {
        if (v->names->value_from_string(v->names, text, &value.intval) != OPAL_SUCCESS)
            return "a variable has no value of this name";
        memcpy(v->storage, &value, v->width);
        return NULL;
    }
    switch (v->type) {
    case MCA_BASE_VAR_TYPE_INT: value.intval = atoi(text); break;
    case MCA_BASE_VAR_TYPE_LONG: value.longval = atol(text); break;
    case MCA_BASE_VAR_TYPE_SIZE_T: value.sizetval = (size_t)strtoull(text, NULL, 10); break;
    case MCA_BASE_VAR_TYPE_BOOL: value.boolval = atoi(text) != 0; break;
    case MCA_BASE_VAR_TYPE_STRING: value.stringval = text; break;
    default: return "settings are numbers or text";
    }
    memcpy(v->storage, &value, v->width);
    return NULL;
}

void variable_restore(const variable *v)
{
    memcpy(v->storage, &v->before, v->width);
}

const char *settings_apply(settings *s, const char *fcoll, const char *io, const char *text)
{
    char *rest = s->text, *name;
    const char *wrong = NULL;
    snprintf(s->text, sizeof s->text, "%s", text);
    for (s->changes = 0; wrong == NULL && (name = strsep(&rest, ",")) != NULL; s->changes++) {
        char *value = strchr(name, '=');
        variable *v = &s->changed[s->changes];
        if (value == NULL || s->changes == MOST_SETTINGS)
            return "settings are NAME=VALUE,...";
        *value++ = '\0';
        if (!variable_find("fcoll", fcoll, name, v) && !variable_find("io", io, name, v))
            return "neither component has a variable of this name";
        wrong = variable_set(v, value);
    }
    return wrong;
}

void settings_restore(settings *s)
{
    while (s->changes > 0)
        variable_restore(&s->changed[--s->changes]);
}
