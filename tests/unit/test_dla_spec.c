/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What stands behind --map-by dla: is read right, and refused with a reason when it cannot be.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dla/spec.h"
#include "setmatch/setmatch.h"

#include "suite.h"

static const struct {
    const char *policy;
    bool ours;
} policies[] = {
    {"dla", true},   {"dla:", true},        {"dla:file=x", true}, {"DLA:cart=2", true},
    {"dlax", false}, {"dl", false},         {"d", false},         {"", false},
    {"slot", false}, {"dla,file=x", false}, {":dla", false},      {"node:dla", false},
    {NULL, false},
};

START_TEST(tells_ours_from_stock)
{
    ck_assert_int_eq(dla_spec_is_dla(policies[_i].policy), policies[_i].ours);
}
END_TEST

static dla_spec parse(const char *policy)
{
    char reason[DLA_REASON_SIZE];
    dla_spec spec;

    ck_assert_msg(dla_spec_parse(policy, &spec, reason) == 0, "%s: %s", policy, reason);
    return spec;
}

/* file NULL: none; product 0: no cart */
static const struct {
    const char *policy, *file;
    size_t ndims, product;
    const char *stock;
    bool no_local;
} good[] = {
    {"dla", NULL, 0, 0, "slot", false},
    {"dla:", NULL, 0, 0, "slot", false},
    {"dla:file=view.crs", "view.crs", 0, 0, "slot", false},
    {"DLA:FILE=View.crs", "View.crs", 0, 0, "slot", false},
    {"dla:file=/a/b=c d", "/a/b=c d", 0, 0, "slot", false},
    {"dla:cart=4x2x2", NULL, 3, 16, "slot", false},
    {"dla:cart=16", NULL, 1, 16, "slot", false},
    {"dla:cart=1X1x1x1x1x1x1x3", NULL, 8, 3, "slot", false},
    {"dla:cart=2x2x2x2x2x2x2x2x2x2x2x3", NULL, 12, 6144, "slot", false},
    {"dla:file=v,cart=2x3", "v", 2, 6, "slot", false},
    {"dla:file=v:OVERSUBSCRIBE", "v", 0, 0, "slot:OVERSUBSCRIBE", false},
    {"dla:file=v:oversubscribe,span", "v", 0, 0, "slot:oversubscribe,span", false},
    {"dla:file=v:PE=2,NOOVERSUBSCRIBE", "v", 0, 0, "slot:PE=2,NOOVERSUBSCRIBE", false},
    {"dla:file=v:pe=02", "v", 0, 0, "slot:PE=2", false},
    {"dla:file=v:NOLOCAL", "v", 0, 0, "slot", true},
    {"dla:OVERSUBSCRIBE", NULL, 0, 0, "slot:OVERSUBSCRIBE", false},
    {"dla:file=v:SPAN:PE=3", "v", 0, 0, "slot:SPAN,PE=3", false},
    {"dla:file=a\\,b\\:c\\\\d", "a,b:c\\d", 0, 0, "slot", false},
    {"dla:file=\\numa=3", "numa=3", 0, 0, "slot", false},
};

START_TEST(reads_good_texts)
{
    size_t product = 1;
    dla_spec spec = parse(good[_i].policy);

    ck_assert_pstr_eq(spec.text[DLA_FILE], good[_i].file);
    ck_assert_uint_eq(spec.ndims, good[_i].ndims);
    for (size_t i = 0; i < spec.ndims; i++)
        product *= spec.dims[i];
    ck_assert_uint_eq(spec.ndims == 0 ? 0 : product, good[_i].product);
    ck_assert_str_eq(spec.stock_policy, good[_i].stock);
    ck_assert_int_eq(spec.no_local, good[_i].no_local);
    dla_spec_release(&spec);
    ck_assert_ptr_null(spec.text[DLA_FILE]);
}
END_TEST

static const struct {
    const char *item;
    dla_item choice;
    int value;
} choices[] = {
    {"METHOD=Bisection", DLA_METHOD, 2},
    {"objective=Neighbours", DLA_OBJECTIVE, SETMATCH_OBJECTIVE_NEIGHBOURS},
    {"order=fortran", DLA_ORDER, SETMATCH_ORDER_FORTRAN},
    {"order=c", DLA_ORDER, SETMATCH_ORDER_C},
    {"numa=Off", DLA_NUMA, DLA_NUMA_OFF},
    {"numa=on", DLA_NUMA, DLA_NUMA_ON},
};

/* Of all choices only the one that is given is set, the others have their defaults. */
START_TEST(reads_choices)
{
    char policy[80];

    ck_assert_ptr_eq(setmatch_methods[2].place, setmatch_bisection);
    snprintf(policy, sizeof(policy), "dla:%s,file=v", choices[_i].item);
    dla_spec spec = parse(policy);
    for (dla_item k = 0; k < DLA_ITEMS; k++) {
        bool given = k == choices[_i].choice;

        ck_assert_int_eq(spec.text[k] != NULL, given || k == DLA_FILE);
        ck_assert_int_eq(spec.choice[k], given ? choices[_i].value : 0);
    }
    dla_spec_release(&spec);
}
END_TEST

/* As parameters and options set them, one after the other. */
START_TEST(sets_single_items)
{
    char reason[DLA_REASON_SIZE] = "";
    dla_spec spec = {.ndims = 0};

    ck_assert_int_eq(dla_spec_set(&spec, DLA_FILE, "a,b:c\\", reason), 0);
    ck_assert_str_eq(spec.text[DLA_FILE], "a,b:c\\");
    ck_assert_int_eq(dla_spec_set(&spec, DLA_FILE, "x", reason), -EINVAL);
    ck_assert_str_eq(spec.text[DLA_FILE], "a,b:c\\");
    ck_assert_int_eq(dla_spec_set(&spec, DLA_CART, "3y3", reason), -EINVAL);
    ck_assert_ptr_null(spec.text[DLA_CART]);
    ck_assert_int_eq(dla_spec_set(&spec, DLA_CART, "3x3", reason), 0);
    ck_assert_uint_eq(spec.ndims, 2);
    dla_spec_release(&spec);
}
END_TEST

/* Items of the policy go before parameters, valid or not. */
START_TEST(combines_policy_and_parameters)
{
    char file[] = "p", cart[] = "2x2", method[] = "best";
    char *parameter[DLA_ITEMS] = {[DLA_FILE] = file, [DLA_CART] = cart, [DLA_METHOD] = method};
    char reason[DLA_REASON_SIZE];
    dla_spec spec;

    ck_assert_int_eq(dla_spec_read("dla:file=v,method=bynode", parameter, &spec, reason), 0);
    ck_assert_str_eq(spec.text[DLA_FILE], "v");
    ck_assert_str_eq(dla_spec_name(&spec), "v");
    ck_assert_uint_eq(spec.ndims, 2);
    ck_assert_int_eq(spec.choice[DLA_METHOD], 4);
    dla_spec_release(&spec);
    ck_assert_int_eq(dla_spec_read(NULL, parameter, &spec, reason), -EINVAL);
    ck_assert_ptr_nonnull(strstr(reason, "parameter rmaps_dla_method: "));
    memset(parameter, 0, sizeof(parameter));
    ck_assert_int_eq(dla_spec_read("dla:numa=on", parameter, &spec, reason), -EINVAL);
    ck_assert_int_eq(dla_spec_read("dla:nuna=on", parameter, &spec, reason), -EINVAL);
}
END_TEST

/* clang-format off */
static const char *const bad[] = {
    "dla:foo=3", "dla:file", "dla:view.crs", "dla:file=v:OVERSUBSCRIBED", "dla:file=v:SPAN=1",
    "dla:file=", "dla:file=a,file=b", "dla:cart=2,cart=2", "dla:method=best", "dla:method=",
    "dla:method=auto,method=auto", "dla:file=v,numa=2", "dla:topology=",
    "dla:topology=a,topology=b", "dla:objective=time", "dla:objective=auto,objective=auto",
    "dla:order=B", "dla:order=C,order=C", "dla:threshold=1", "dla:file=v,refine=off",
    "dla:domains=even", "dla:Bandwidth=b", "dla:cart=", "dla:cart=0x2", "dla:cart=2x",
    "dla:cart=x2", "dla:cart=2xx2", "dla:cart=2*2", "dla:cart=-2x-2",
    "dla:cart=4294967296x4294967296", "dla:cart=99999999999999999999", "dla:PE=0", "dla:PE=",
    "dla:PE=32768", "dla:file=v,", "dla::OVERSUBSCRIBE", "dla:,", "dla:file=v\\",
};
/* clang-format on */

/* What the user wrote, what there is, or what is in its place. */
START_TEST(refusals_name_the_cause)
{
    static const char *const named[][3] = {
        {"dla:foo=3", "--map-by dla:foo=3: ", "\"foo=3\""},
        {"dla:flie=v", "\"flie=v\"", "mean file=?"},
        {"dla:method=best", "method=best", "there are auto, setmatch, bisection, byslot"},
        {"dla:file=v,refine=off", "no refine", "any more: "},
        {"dla:Bandwidth=b", "no bandwidth", "any more: topology"},
    };
    char *none[DLA_ITEMS] = {NULL}, reason[DLA_REASON_SIZE];
    dla_spec spec;
    ck_assert_int_eq(dla_spec_read(named[_i][0], none, &spec, reason), -EINVAL);
    ck_assert_msg(strstr(reason, named[_i][1]) && strstr(reason, named[_i][2]), "%s", reason);
}
END_TEST

START_TEST(refuses_bad_texts)
{
    char reason[DLA_REASON_SIZE] = "";
    dla_spec spec, before;

    memset(&spec, 0x5a, sizeof(spec));
    before = spec;
    ck_assert_int_eq(dla_spec_parse(bad[_i], &spec, reason), -EINVAL);
    ck_assert_str_ne(reason, "");
    ck_assert_mem_eq(&spec, &before, sizeof(spec));
}
END_TEST

int main(void)
{
    return run_tests("dla_spec", TIMES(tells_ours_from_stock, LENGTH(policies)),
                     TIMES(reads_good_texts, LENGTH(good)), TIMES(reads_choices, LENGTH(choices)),
                     ONCE(sets_single_items), ONCE(combines_policy_and_parameters),
                     TIMES(refuses_bad_texts, LENGTH(bad)), TIMES(refusals_name_the_cause, 5));
}
