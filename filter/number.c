/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers from text, their comparison and arithmetic. */
#include "number.h"

#include <stdio.h>

#include "decimal.h"

/* ---- from text ------------------------------------------------------------------------------------------------- */

/* Beyond this no digits that fit into memory can make the number finite, or other than 0, again. */
static const int64_t max_exponent = INT64_MAX / 4;

/* What the digits before an exponent are. */
struct mantissa {
    struct sf_decimal decimal; /* head is 0 when all digits are */
    size_t bytes;
    bool is_integer;
};

static bool starts_with_digit(struct sf_text text, size_t at) {
    return at < text.bytes && sf_is_digit(text.at[at]);
}

/* Read digits [ "." [digits] ] | "." digits. mantissa.bytes is 0 when there is none. */
static struct mantissa read_mantissa(struct sf_text text) {
    struct mantissa result = {.is_integer = true};
    struct sf_decimal *decimal = &result.decimal;
    size_t at = 0;
    size_t n_digits = 0;
    for (; at < text.bytes; at++) {
        char c = text.at[at];
        if (c == '.' && result.is_integer && (n_digits > 0 || starts_with_digit(text, at + 1))) {
            result.is_integer = false;
            continue;
        }
        if (!sf_is_digit(c)) {
            break;
        }
        n_digits++;
        if (decimal->n_head == 0 && c == '0') {
            decimal->point -= result.is_integer ? 0 : 1;
            continue;
        }
        if (decimal->n_head == 0) {
            decimal->digits.at = text.at + at;
        }
        decimal->point += result.is_integer ? 1 : 0;
        if (decimal->n_head < 19) {
            decimal->head = decimal->head * 10 + (uint64_t)(c - '0');
            decimal->n_head++;
        } else if (c != '0') {
            decimal->has_more = true;
        }
    }
    result.bytes = at;
    if (decimal->n_head > 0) {
        decimal->digits.bytes = (size_t)(text.at + at - decimal->digits.at);
    }
    return result;
}

/* Read (e|E) [ "+" | "-" ] digits at text.at[at]; returns the bytes, 0 when there is none. */
static size_t read_exponent(struct sf_text text, size_t at, int64_t *exponent_out) {
    size_t start = at;
    if (at >= text.bytes || sf_to_lower(text.at[at]) != 'e') {
        return 0;
    }
    at++;
    bool negative = at < text.bytes && text.at[at] == '-';
    if (at < text.bytes && (text.at[at] == '-' || text.at[at] == '+')) {
        at++;
    }
    if (!starts_with_digit(text, at)) {
        return 0;
    }
    int64_t exponent = 0;
    for (; starts_with_digit(text, at); at++) {
        if (exponent < max_exponent / 10) {
            exponent = exponent * 10 + (text.at[at] - '0');
        }
    }
    *exponent_out = negative ? -exponent : exponent;
    return at - start;
}

size_t sf_number_scan(struct sf_text text, bool *is_integer_out) {
    struct mantissa mantissa = read_mantissa(text);
    int64_t exponent = 0;
    size_t exponent_bytes =
        mantissa.bytes == 0 ? 0 : read_exponent(text, mantissa.bytes, &exponent);
    *is_integer_out = mantissa.is_integer && exponent_bytes == 0;
    return mantissa.bytes + exponent_bytes;
}

/* Whether the digits are an integer within 64 bits, with that sign. */
static bool to_integer(const struct sf_decimal *decimal, bool negative, int64_t *integer_out) {
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    if (decimal->point > 19 || decimal->head > limit) {
        return false;
    }
    if (negative) { /* in a way that has no overflow for the smallest */
        *integer_out = decimal->head == 0 ? 0 : -(int64_t)(decimal->head - 1) - 1;
    } else {
        *integer_out = (int64_t)decimal->head;
    }
    return true;
}

struct sf_number sf_number_parse(struct sf_text text) {
    text = sf_text_trim(text);
    bool negative = text.bytes > 0 && text.at[0] == '-';
    if (text.bytes > 0 && (text.at[0] == '-' || text.at[0] == '+')) {
        text.at++;
        text.bytes--;
    }
    struct mantissa mantissa = read_mantissa(text);
    struct sf_decimal *decimal = &mantissa.decimal;
    if (mantissa.bytes == 0) {
        return sf_number_none();
    }
    int64_t exponent = 0;
    size_t exponent_bytes = read_exponent(text, mantissa.bytes, &exponent);
    if (mantissa.bytes + exponent_bytes != text.bytes) {
        return sf_number_none();
    }
    int64_t integer = 0;
    if (mantissa.is_integer && exponent_bytes == 0 && to_integer(decimal, negative, &integer)) {
        return sf_number_integer(integer);
    }
    decimal->point += exponent;
    double real = decimal->head == 0 ? 0.0 : sf_decimal_to_double(decimal);
    return sf_number_real(negative ? -real : real);
}

/* ---- comparison ------------------------------------------------------------------------------------------------ */

static const uint64_t sign_bit = SF_RANK_NO_REST;

/* The bits of a double, as an integer that has the order of doubles: those of negative ones the other way round. */
static uint64_t ordered_bits(double real) {
    uint64_t bits;
    real += 0.0; /* there is one 0 */
    memcpy(&bits, &real, sizeof bits);
    return (bits & sign_bit) != 0 ? ~bits : bits | sign_bit;
}

static double from_ordered_bits(uint64_t ordered) {
    uint64_t bits = (ordered & sign_bit) != 0 ? ordered ^ sign_bit : ~ordered;
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

struct sf_rank sf_number_rank(struct sf_number number) {
    const double two_to_63 = 9223372036854775808.0;
    if (number.kind == SF_NUMBER_INTEGER) {
        return (struct sf_rank){number.integer, SF_RANK_NO_REST};
    }
    if (number.real >= two_to_63 || number.real < -two_to_63) {
        return (struct sf_rank){number.real < 0 ? INT64_MIN : INT64_MAX, ordered_bits(number.real)};
    }
    /* towards 0, so that the difference has the number's sign and is exact */
    int64_t whole = (int64_t)number.real;
    return (struct sf_rank){whole, ordered_bits(number.real - (double)whole)};
}

struct sf_number sf_number_of_rank(enum sf_number_kind kind, struct sf_rank rank) {
    if (kind == SF_NUMBER_INTEGER) {
        return sf_number_integer(rank.whole);
    }
    double rest = from_ordered_bits(rank.rest);
    bool is_beyond = rest >= 1.0 || rest <= -1.0;
    return (struct sf_number){.kind = kind, .real = is_beyond ? rest : (double)rank.whole + rest};
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------ */

static bool are_known(struct sf_number left, struct sf_number right) {
    return left.kind != SF_NUMBER_NONE && right.kind != SF_NUMBER_NONE;
}

static bool are_integers(struct sf_number left, struct sf_number right) {
    return left.kind == SF_NUMBER_INTEGER && right.kind == SF_NUMBER_INTEGER;
}

static double to_real(struct sf_number number) {
    return number.kind == SF_NUMBER_INTEGER ? (double)number.integer : number.real;
}

struct sf_number sf_number_add(struct sf_number left, struct sf_number right) {
    int64_t sum = 0;
    if (!are_known(left, right)) {
        return sf_number_none();
    }
    if (are_integers(left, right) && !__builtin_add_overflow(left.integer, right.integer, &sum)) {
        return sf_number_integer(sum);
    }
    return sf_number_real(to_real(left) + to_real(right));
}

struct sf_number sf_number_subtract(struct sf_number left, struct sf_number right) {
    int64_t difference = 0;
    if (!are_known(left, right)) {
        return sf_number_none();
    }
    if (are_integers(left, right) &&
        !__builtin_sub_overflow(left.integer, right.integer, &difference)) {
        return sf_number_integer(difference);
    }
    return sf_number_real(to_real(left) - to_real(right));
}

struct sf_number sf_number_multiply(struct sf_number left, struct sf_number right) {
    int64_t product = 0;
    if (!are_known(left, right)) {
        return sf_number_none();
    }
    if (are_integers(left, right) &&
        !__builtin_mul_overflow(left.integer, right.integer, &product)) {
        return sf_number_integer(product);
    }
    return sf_number_real(to_real(left) * to_real(right));
}

struct sf_number sf_number_divide(struct sf_number left, struct sf_number right) {
    if (!are_known(left, right) || to_real(right) == 0.0) {
        return sf_number_none();
    }
    return sf_number_real(to_real(left) / to_real(right));
}

struct sf_number sf_number_negate(struct sf_number number) {
    if (number.kind == SF_NUMBER_INTEGER && number.integer != INT64_MIN) {
        return sf_number_integer(-number.integer);
    }
    return number.kind == SF_NUMBER_NONE ? number : sf_number_real(-to_real(number));
}

/* ---- to text --------------------------------------------------------------------------------------------------- */

/* The locale may have another decimal point, of several bytes. */
static size_t restore_point(char *text) {
    size_t n = 0;
    bool in_point = false;
    for (size_t i = 0; text[i] != '\0'; i++) {
        bool is_own = sf_is_digit(text[i]) || text[i] == 'e' || text[i] == '-' || text[i] == '+';
        if (is_own) {
            text[n++] = text[i];
        } else if (!in_point) {
            text[n++] = '.';
        }
        in_point = !is_own;
    }
    text[n] = '\0';
    return n;
}

size_t sf_number_write(struct sf_number number, char *out) {
    if (number.kind == SF_NUMBER_INTEGER) {
        return (size_t)snprintf(out, SF_NUMBER_TEXT_BYTES, "%lld", (long long)number.integer);
    }
    size_t bytes = 0;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, SF_NUMBER_TEXT_BYTES, "%.*g", digits, number.real);
        bytes = restore_point(out);
        struct sf_number back = sf_number_parse((struct sf_text){out, bytes});
        if (back.kind != SF_NUMBER_NONE && sf_number_compare(back, number) == SF_EQUAL) {
            break;
        }
    }
    /* so that it reads as what it is: 5.0 is not the integer 5 */
    if (strpbrk(out, ".e") == NULL) {
        memcpy(out + bytes, ".0", 3);
        bytes += 2;
    }
    return bytes;
}
