/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers of the reference: the form is checked by hand, the C library converts. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "reference_internal.h"

struct ref_number ref_number_integer(int64_t integer) {
    return (struct ref_number){.known = true, .is_integer = true, .integer = integer};
}

struct ref_number ref_number_real(double real) {
    return (struct ref_number){.known = isfinite(real) != 0, .real = real};
}

static size_t digits(const char *text, size_t bytes, size_t at) {
    while (at < bytes && text[at] >= '0' && text[at] <= '9') {
        at++;
    }
    return at;
}

/* Whether text is [sign] (digits [. [digits]] | . digits) [e [sign] digits]; *integer_out: sign and digits only. */
static bool has_number_form(const char *text, size_t bytes, bool *integer_out) {
    size_t at = bytes > 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    size_t whole = digits(text, bytes, at) - at;
    at += whole;
    *integer_out = at == bytes;
    if (at < bytes && text[at] == '.') {
        size_t fraction = digits(text, bytes, at + 1) - (at + 1);
        if (whole + fraction == 0) {
            return false;
        }
        at += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (at < bytes && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < bytes && (text[at] == '+' || text[at] == '-')) {
            at++;
        }
        size_t end = digits(text, bytes, at);
        if (end == at) {
            return false;
        }
        at = end;
    }
    return at == bytes;
}

static bool integer_from(const char *text, int64_t *integer_out) {
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    *integer_out = value;
    return errno == 0;
}

static locale_t c_locale;

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        abort();
    }
}

static double real_from(const char *text) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    locale_t before = uselocale(c_locale);
    double value = strtod(text, NULL);
    uselocale(before);
    return value;
}

struct ref_number ref_number_parse(const char *text, size_t bytes) {
    struct ref_text trimmed = ref_trim((struct ref_text){text, bytes});
    bool is_integer = false;
    if (!has_number_form(trimmed.text, trimmed.bytes, &is_integer)) {
        return (struct ref_number){.known = false};
    }
    char *copy = malloc(trimmed.bytes + 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, trimmed.text, trimmed.bytes);
    copy[trimmed.bytes] = '\0';
    int64_t integer = 0;
    struct ref_number number = is_integer && integer_from(copy, &integer)
                                   ? ref_number_integer(integer)
                                   : ref_number_real(real_from(copy));
    free(copy);
    return number;
}

static int compare_reals(double left, double right) {
    return (left > right) - (left < right);
}

static int compare_integer_with_real(int64_t integer, double real) {
    if (real >= 9223372036854775808.0) {
        return -1;
    }
    if (real < -9223372036854775808.0) {
        return 1;
    }
    int64_t whole = (int64_t)real; /* exact: towards zero, in range */
    if (integer != whole) {
        return integer > whole ? 1 : -1;
    }
    return compare_reals(0.0, real - (double)whole);
}

int ref_number_compare(struct ref_number left, struct ref_number right) {
    if (left.is_integer && right.is_integer) {
        return (left.integer > right.integer) - (left.integer < right.integer);
    }
    if (left.is_integer) {
        return compare_integer_with_real(left.integer, right.real);
    }
    if (right.is_integer) {
        return -compare_integer_with_real(right.integer, left.real);
    }
    return compare_reals(left.real, right.real);
}

static bool fits_sum(int64_t a, int64_t b) {
    return b >= 0 ? a <= INT64_MAX - b : a >= INT64_MIN - b;
}

static bool fits_difference(int64_t a, int64_t b) {
    return b >= 0 ? a >= INT64_MIN + b : a <= INT64_MAX + b;
}

static bool fits_product(int64_t a, int64_t b) {
    if (a == 0 || b == 0) {
        return true;
    }
    if (a > 0) {
        return b > 0 ? a <= INT64_MAX / b : b >= INT64_MIN / a;
    }
    return b > 0 ? a >= INT64_MIN / b : a != INT64_MIN && b != INT64_MIN && -a <= INT64_MAX / -b;
}

struct ref_number ref_number_arithmetic(enum ref_op op, struct ref_number left,
                                        struct ref_number right) {
    if (!left.known || !right.known) {
        return (struct ref_number){.known = false};
    }
    if (left.is_integer && right.is_integer) {
        int64_t a = left.integer;
        int64_t b = right.integer;
        if (op == REF_OP_ADD && fits_sum(a, b)) {
            return ref_number_integer(a + b);
        }
        if (op == REF_OP_SUBTRACT && fits_difference(a, b)) {
            return ref_number_integer(a - b);
        }
        if (op == REF_OP_MULTIPLY && fits_product(a, b)) {
            return ref_number_integer(a * b);
        }
    }
    double a = left.is_integer ? (double)left.integer : left.real;
    double b = right.is_integer ? (double)right.integer : right.real;
    switch (op) {
    case REF_OP_ADD:
        return ref_number_real(a + b);
    case REF_OP_SUBTRACT:
        return ref_number_real(a - b);
    case REF_OP_MULTIPLY:
        return ref_number_real(a * b);
    default:
        return b == 0.0 ? (struct ref_number){.known = false} : ref_number_real(a / b);
    }
}
