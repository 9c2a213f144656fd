/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decimal to double, correctly rounded.
 *
 * Most numbers have few digits: both the digits and the power of ten are exact doubles then, and one operation rounds
 * once. For all others the value is written as a fraction N / M of big integers, times a power of two; one division
 * gives the first 63 or 64 bits and whether anything is left, and that is rounded. Big integers have a fixed size:
 * digits beyond the 768th can only say that the value is not exactly between two doubles, so a 1 stands for all of
 * them. */
#include "decimal.h"

#include <float.h>
#include <math.h>

enum {
    MAX_DIGITS = 768, /* a number halfway between two doubles has at most 767 significant digits */
    MAX_POINT = 309,  /* from 10^309 on all is beyond the largest double */
    MIN_POINT = -323, /* below 10^-324 all rounds to 0 */
    MAX_LIMBS =
        96, /* 3072 bits; needed: 10^769 or 5^1092, both below 2^2560, shifted by up to 96 */
    MANTISSA_BITS = 53,
    EXPONENT_BIAS = 1023,
};

/* ---- big integers ---------------------------------------------------------------------------------------------- */

/* Least limb first, without zeros on top. */
struct big {
    uint32_t limbs[MAX_LIMBS];
    int n;
};

static void big_set(struct big *big, uint64_t value) {
    big->n = 0;
    for (; value != 0; value >>= 32) {
        big->limbs[big->n++] = (uint32_t)value;
    }
}

/* big = big * factor + addend */
static void big_multiply_add(struct big *big, uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (int i = 0; i < big->n; i++) {
        carry += (uint64_t)big->limbs[i] * factor;
        big->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        big->limbs[big->n++] = (uint32_t)carry;
    }
}

static void big_multiply_by_power_of_5(struct big *big, int64_t exponent) {
    const uint32_t five_to_13 = 1220703125;
    for (; exponent >= 13; exponent -= 13) {
        big_multiply_add(big, five_to_13, 0);
    }
    for (; exponent > 0; exponent--) {
        big_multiply_add(big, 5, 0);
    }
}

static int bits_of(uint32_t limb) {
    int bits = 0;
    for (; limb != 0; limb >>= 1) {
        bits++;
    }
    return bits;
}

static int big_bits(const struct big *big) {
    return 32 * (big->n - 1) + bits_of(big->limbs[big->n - 1]);
}

static void big_shift_left(struct big *big, int bits) {
    int limbs = bits / 32;
    bits %= 32;
    for (int i = big->n - 1; i >= 0; i--) {
        big->limbs[i + limbs] = big->limbs[i];
    }
    for (int i = 0; i < limbs; i++) {
        big->limbs[i] = 0;
    }
    big->n += limbs;
    if (bits == 0) {
        return;
    }
    uint32_t carry = 0;
    for (int i = limbs; i < big->n; i++) {
        uint32_t limb = big->limbs[i];
        big->limbs[i] = limb << bits | carry;
        carry = limb >> (32 - bits);
    }
    if (carry != 0) {
        big->limbs[big->n++] = carry;
    }
}

/* n[0..m] -= digit * divisor, over divisor->n + 1 limbs; whether that went below 0. */
static bool subtract_multiple(uint32_t *n, const struct big *divisor, uint32_t digit) {
    uint64_t carry = 0;
    uint64_t borrow = 0;
    for (int i = 0; i < divisor->n; i++) {
        carry += (uint64_t)digit * divisor->limbs[i];
        uint64_t difference = (uint64_t)n[i] - (uint32_t)carry - borrow;
        n[i] = (uint32_t)difference;
        borrow = difference >> 63;
        carry >>= 32;
    }
    uint64_t difference = (uint64_t)n[divisor->n] - carry - borrow;
    n[divisor->n] = (uint32_t)difference;
    return difference >> 63 != 0;
}

static void add_back(uint32_t *n, const struct big *divisor) {
    uint64_t carry = 0;
    for (int i = 0; i < divisor->n; i++) {
        carry += (uint64_t)n[i] + divisor->limbs[i];
        n[i] = (uint32_t)carry;
        carry >>= 32;
    }
    n[divisor->n] += (uint32_t)carry;
}

/* dividend / divisor by schoolbook division, where the quotient is known to be below 2^64, the divisor's top bit is set
 * and the dividend has room for two limbs more than the divisor. The remainder is left in dividend. */
static uint64_t big_divide(struct big *dividend, const struct big *divisor) {
    int n = divisor->n;
    uint64_t top = divisor->limbs[n - 1];
    for (int i = dividend->n; i < n + 2; i++) {
        dividend->limbs[i] = 0;
    }
    uint64_t quotient = 0;
    for (int j = 1; j >= 0; j--) {
        uint32_t *part = dividend->limbs + j;
        /* An estimate from the leading limbs is at most two too high, since the divisor's top bit is set. */
        uint64_t digit = ((uint64_t)part[n] << 32 | part[n - 1]) / top;
        if (digit > UINT32_MAX) {
            digit = UINT32_MAX;
        }
        if (subtract_multiple(part, divisor, (uint32_t)digit)) {
            do {
                digit--;
                add_back(part, divisor);
            } while ((int32_t)part[n] < 0);
        }
        quotient = quotient << 32 | digit;
    }
    return quotient;
}

static bool is_zero(const uint32_t *limbs, int n) {
    for (int i = 0; i < n; i++) {
        if (limbs[i] != 0) {
            return false;
        }
    }
    return true;
}

/* ---- rounding -------------------------------------------------------------------------------------------------- */

static double double_from_bits(uint64_t bits) {
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* The double nearest to (mantissa plus something below 1 when `has_more`) * 2^exponent; mantissa >= 2^62. */
static double round_to_double(uint64_t mantissa, int exponent, bool has_more) {
    int top = mantissa >> 63 != 0 ? 63 : 62; /* which bit leads; its weight is 2^(exponent + top) */
    int drop = top - (MANTISSA_BITS - 1);
    int biased = exponent + top + EXPONENT_BIAS;
    if (biased < 1) { /* subnormal: fewer bits */
        drop += 1 - biased;
        biased = 1;
    }
    if (drop > 64) {
        return 0.0;
    }
    uint64_t kept = drop == 64 ? 0 : mantissa >> drop;
    uint64_t dropped = drop == 64 ? mantissa : mantissa & ((UINT64_C(1) << drop) - 1);
    uint64_t half = UINT64_C(1) << (drop - 1);
    if (dropped > half || (dropped == half && (has_more || (kept & 1) != 0))) {
        kept++;
    }
    /* Adding, not or-ing: the leading bit, and a carry of the rounding, go on into the exponent. */
    uint64_t bits = ((uint64_t)(biased - 1) << (MANTISSA_BITS - 1)) + kept;
    const uint64_t infinity = UINT64_C(0x7FF) << (MANTISSA_BITS - 1);
    return double_from_bits(biased - 1 > 2 * EXPONENT_BIAS || bits > infinity ? infinity : bits);
}

/* The digits as an integer, up to MAX_DIGITS of them and a 1 for those beyond; their number in *n_digits_out. */
static void read_digits(const struct sf_decimal *decimal, struct big *big, int *n_digits_out) {
    if (!decimal->has_more) {
        big_set(big, decimal->head);
        *n_digits_out = decimal->n_head;
        return;
    }
    int n = 0;
    bool is_cut = false;
    big->n = 0;
    for (size_t i = 0; i < decimal->digits.bytes; i++) {
        char digit = decimal->digits.at[i];
        if (digit != '.' && n < MAX_DIGITS) {
            big_multiply_add(big, 10, (uint32_t)(digit - '0'));
            n++;
        } else if (digit != '.' && digit != '0') {
            is_cut = true;
        }
    }
    if (is_cut) {
        big_multiply_add(big, 10, 1);
        n++;
    }
    *n_digits_out = n;
}

static double convert_exactly(const struct sf_decimal *decimal) {
    struct big numerator;
    struct big denominator;
    int n_digits = 0;
    read_digits(decimal, &numerator, &n_digits);
    int exponent = (int)decimal->point - n_digits; /* value = numerator * 10^exponent */
    big_set(&denominator, 1);
    big_multiply_by_power_of_5(exponent < 0 ? &denominator : &numerator,
                               exponent < 0 ? -exponent : exponent);
    /* Scale so that the quotient has 63 or 64 bits, and the divisor fills its top limb. */
    int scale = 63 + big_bits(&denominator) - big_bits(&numerator);
    int shift = scale < 0 ? -scale : 0;
    shift += (32 - (big_bits(&denominator) + shift) % 32) % 32;
    big_shift_left(&denominator, shift);
    big_shift_left(&numerator, scale + shift);
    uint64_t quotient = big_divide(&numerator, &denominator);
    bool has_more = !is_zero(numerator.limbs, denominator.n);
    return round_to_double(quotient, exponent - scale, has_more);
}

double sf_decimal_to_double(const struct sf_decimal *decimal) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int64_t n_powers = sizeof powers / sizeof powers[0];
    if (decimal->point > MAX_POINT) {
        return (double)INFINITY;
    }
    if (decimal->point < MIN_POINT) {
        return 0.0;
    }
    int64_t exponent = decimal->point - decimal->n_head;
#if FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1 /* elsewhere an operation rounds twice */
    if (!decimal->has_more && decimal->head <= UINT64_C(1) << MANTISSA_BITS &&
        exponent > -n_powers && exponent < n_powers) {
        double head = (double)decimal->head;
        return exponent < 0 ? head / powers[-exponent] : head * powers[exponent];
    }
#endif
    return convert_exactly(decimal);
}
