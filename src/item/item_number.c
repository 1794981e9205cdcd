/*
 * item_number.c
 *	  DynamoDB's numbers as numeric.
 *
 * A number has at most 38 significant digits and is zero or has a magnitude
 * of 1E-130 to 9.99..E+125 (DynamoDB Developer Guide, "Number").  What does
 * not fit is an error, never rounded.  Normal form is numeric's own, with the
 * smallest display scale: 1.0 is 1, 1.50 is 1.5, -0 is 0.
 *
 * The digits are read straight from the stored form of numeric, whose layout
 * core keeps private but cannot change without breaking pg_upgrade: digits in
 * base 10000 behind a header of two bytes (short) or four (long); see the
 * comments at the top of core's numeric.c.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "base/errors.h"
#include "item/item_internal.h"

#define MAX_DIGITS		38
#define MIN_EXPONENT	(-130)	/* of the first significant digit */
#define MAX_EXPONENT	125
#define DEC_DIGITS		4		/* decimal digits in one of numeric's */
#define MAX_SHOWN		80		/* bytes of a number in a message */

#define HEADER_SHORT			0x8000
#define HEADER_SPECIAL			0xC000	/* NaN and infinities */
#define HEADER_SIGN_MASK		0xC000
#define HEADER_NEGATIVE			0x4000	/* long form */
#define HEADER_DSCALE_MASK		0x3FFF
#define SHORT_NEGATIVE			0x2000
#define SHORT_DSCALE_MASK		0x1F80
#define SHORT_DSCALE_SHIFT		7
#define SHORT_DSCALE_MAX		(SHORT_DSCALE_MASK >> SHORT_DSCALE_SHIFT)
#define SHORT_WEIGHT_NEGATIVE	0x0040
#define SHORT_WEIGHT_MASK		0x003F

/* A numeric taken apart; digits points into it. */
typedef struct NumberParts
{
	bool		special;		/* NaN or an infinity: the rest is not set */
	bool		negative;
	int			weight;			/* power of 10000 of the first digit */
	int			dscale;			/* display scale, decimal digits */
	int			count;
	const int16 *digits;		/* without leading and trailing zeros */
} NumberParts;

/* What the rules ask about a number. */
typedef struct NumberFacts
{
	int			significant;	/* decimal digits, 0 for zero */
	int			exponent;		/* power of ten of the first of them */
	int			dscale;			/* smallest that shows all digits */
} NumberFacts;

/* Takes a numeric with a four-byte header apart. */
static void
take_apart(Numeric number, NumberParts *parts)
{
	const uint16 *words = (const uint16 *) VARDATA(number);
	int			count = (VARSIZE(number) - VARHDRSZ) / sizeof(uint16);
	uint16		header = words[0];

	parts->special = (header & HEADER_SIGN_MASK) == HEADER_SPECIAL;
	if (parts->special)
		return;
	if (header & HEADER_SHORT)
	{
		parts->negative = (header & SHORT_NEGATIVE) != 0;
		parts->dscale = (header & SHORT_DSCALE_MASK) >> SHORT_DSCALE_SHIFT;
		parts->weight = (header & SHORT_WEIGHT_MASK) |
			((header & SHORT_WEIGHT_NEGATIVE) ? ~SHORT_WEIGHT_MASK : 0);
		words += 1;
		count -= 1;
	}
	else
	{
		parts->negative = (header & HEADER_SIGN_MASK) == HEADER_NEGATIVE;
		parts->dscale = header & HEADER_DSCALE_MASK;
		parts->weight = (int16) words[1];
		words += 2;
		count -= 2;
	}
	parts->digits = (const int16 *) words;
	while (count > 0 && parts->digits[0] == 0)
	{
		parts->digits++;
		parts->weight--;
		count--;
	}
	while (count > 0 && parts->digits[count - 1] == 0)
		count--;
	parts->count = count;
}

/* Counts the decimal digits of one of numeric's digits. */
static inline int
digit_width(int16 digit)
{
	return digit >= 1000 ? 4 : digit >= 100 ? 3 : digit >= 10 ? 2 : 1;
}

/* Counts the decimal zeros at the end of one of numeric's digits, which is not zero. */
static inline int
digit_zeros(int16 digit)
{
	return digit % 10 != 0 ? 0 : digit % 100 != 0 ? 1 : digit % 1000 != 0 ? 2 : 3;
}

/* Works out the facts of a number that is not special. */
static void
find_facts(const NumberParts *parts, NumberFacts *facts)
{
	int			width;
	int			zeros;

	if (parts->count == 0)
	{
		facts->significant = 0;
		facts->exponent = 0;
		facts->dscale = 0;
		return;
	}
	width = digit_width(parts->digits[0]);
	zeros = digit_zeros(parts->digits[parts->count - 1]);
	facts->significant = (parts->count - 1) * DEC_DIGITS + width - zeros;
	facts->exponent = parts->weight * DEC_DIGITS + width - 1;
	facts->dscale = Max(0, (parts->count - 1 - parts->weight) * DEC_DIGITS - zeros);
}

/* Checks the facts of a number against the limits. */
static KvNumberState
check_facts(const NumberFacts *facts)
{
	if (facts->significant > MAX_DIGITS)
		return KV_NUMBER_TOO_LONG;
	if (facts->significant > 0 &&
		(facts->exponent < MIN_EXPONENT || facts->exponent > MAX_EXPONENT))
		return KV_NUMBER_OUT_OF_RANGE;
	return KV_NUMBER_NORMAL;
}

/* Checks a number with a four-byte header. */
KvNumberState
kv_number_check(Numeric number)
{
	uint16		header = *(const uint16 *) VARDATA(number);
	NumberParts parts;
	NumberFacts facts;
	KvNumberState state;

	/* An integer below 1E32 in short form has no trailing zeros to lose. */
	if ((header & (HEADER_SIGN_MASK | SHORT_DSCALE_MASK | SHORT_WEIGHT_NEGATIVE)) == HEADER_SHORT &&
		(header & SHORT_WEIGHT_MASK) < 8)
		return KV_NUMBER_NORMAL;

	take_apart(number, &parts);
	if (parts.special)
		return KV_NUMBER_OUT_OF_RANGE;
	find_facts(&parts, &facts);
	state = check_facts(&facts);
	if (state == KV_NUMBER_NORMAL && parts.dscale != facts.dscale)
		return KV_NUMBER_ACCEPTED;
	return state;
}

/* Returns the number of significant decimal digits. */
int
kv_number_digits(Numeric number)
{
	NumberParts parts;
	NumberFacts facts;

	take_apart(number, &parts);
	if (parts.special)
		kv_number_report(KV_NUMBER_OUT_OF_RANGE, number, NULL, NULL);
	find_facts(&parts, &facts);
	return facts.significant;
}

/* Puts a number together as core's make_result() does. */
static Numeric
put_together(const NumberParts *parts, int dscale)
{
	bool		is_short = dscale <= SHORT_DSCALE_MAX &&
		parts->weight <= SHORT_WEIGHT_MASK && parts->weight >= -(SHORT_WEIGHT_MASK + 1);
	Size		size = VARHDRSZ + (is_short ? 1 : 2) * sizeof(uint16) + parts->count * sizeof(int16);
	Numeric		number = (Numeric) palloc(size);
	uint16	   *words = (uint16 *) VARDATA(number);

	SET_VARSIZE(number, size);
	if (is_short)
		*words++ = HEADER_SHORT | (parts->negative ? SHORT_NEGATIVE : 0) |
			(dscale << SHORT_DSCALE_SHIFT) |
			(parts->weight < 0 ? SHORT_WEIGHT_NEGATIVE : 0) |
			(parts->weight & SHORT_WEIGHT_MASK);
	else
	{
		*words++ = (parts->negative ? HEADER_NEGATIVE : 0) | dscale;
		*words++ = (uint16) parts->weight;
	}
	memcpy(words, parts->digits, parts->count * sizeof(int16));
	return number;
}

/* Returns the number in normal form, itself where it is normal already. */
Numeric
kv_number_normalize_at(Numeric number, const KvPath *path)
{
	KvNumberState state = kv_number_check(number);
	NumberParts parts;
	NumberFacts facts;

	if (state == KV_NUMBER_NORMAL)
		return number;
	if (state != KV_NUMBER_ACCEPTED)
		kv_number_report(state, number, NULL, path);

	take_apart(number, &parts);
	if (parts.count == 0)
	{
		parts.negative = false;
		parts.weight = 0;
	}
	find_facts(&parts, &facts);
	return put_together(&parts, facts.dscale);
}

/* Returns the number in normal form. */
Numeric
kv_number_normalize(Numeric number)
{
	return kv_number_normalize_at(number, NULL);
}

/*
 * Reads text into significant digits and the exponent of the last of them.
 * Digits beyond MAX_DIGITS + 1 are counted, not stored.  Returns false if the
 * text is no number.
 */
static bool
scan_text(const char *text, int length, bool *negative, char *digits, int *count, int64 *exponent)
{
	const char *p = text;
	const char *end = text + length;
	bool		seen_digit = false;
	bool		seen_point = false;
	int64		zeros = 0;		/* zeros that count only if another digit follows */
	int64		scale = 0;
	int64		written = 0;

	*negative = p < end && *p == '-';
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !seen_point)); p++)
	{
		if (*p == '.')
		{
			seen_point = true;
			continue;
		}
		seen_digit = true;
		scale += seen_point ? 1 : 0;
		if (*p == '0')
		{
			zeros += *count > 0 ? 1 : 0;
			continue;
		}
		for (; zeros > 0 && *count <= MAX_DIGITS; zeros--)
			digits[(*count)++] = '0';
		zeros = 0;
		if (*count <= MAX_DIGITS)
			digits[(*count)++] = *p;
	}
	if (!seen_digit)
		return false;
	if (p < end && (*p == 'e' || *p == 'E'))
	{
		bool		down;

		p++;
		down = p < end && *p == '-';
		if (p < end && (*p == '-' || *p == '+'))
			p++;
		if (p == end)
			return false;
		for (; p < end && *p >= '0' && *p <= '9'; p++)
			written = Min(written * 10 + (*p - '0'), PG_INT32_MAX);
		if (down)
			written = -written;
	}
	*exponent = written - scale + zeros;
	return p == end;
}

/* Returns as much of the text as a message shows. */
static char *
clip(const char *text, int length)
{
	return pnstrdup(text, pg_mbcliplen(text, length, MAX_SHOWN));
}

/* Reads decimal text into normal form. */
Numeric
kv_number_from_text(const char *text, int length, const KvPath *path)
{
	char		digits[MAX_DIGITS + 1];
	char		canonical[MAX_DIGITS + 32];
	bool		negative;
	int			count = 0;
	int64		exponent = 0;

	if (!scan_text(text, length, &negative, digits, &count, &exponent))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("attribute \"%s\" is not a number: \"%s\"", kv_path_text(path),
						clip(text, length))));
	if (count > MAX_DIGITS)
		kv_number_report(KV_NUMBER_TOO_LONG, NULL, clip(text, length), path);
	if (count > 0 && (exponent + count - 1 < MIN_EXPONENT || exponent + count - 1 > MAX_EXPONENT))
		kv_number_report(KV_NUMBER_OUT_OF_RANGE, NULL, clip(text, length), path);
	if (count == 0)
		return int64_to_numeric(0);

	snprintf(canonical, sizeof(canonical), "%s%.*se%d",
			 negative ? "-" : "", count, digits, (int) exponent);
	return kv_number_normalize(DatumGetNumeric(DirectFunctionCall3(numeric_in,
																   CStringGetDatum(canonical),
																   ObjectIdGetDatum(InvalidOid),
																   Int32GetDatum(-1))));
}

/* Returns a number as a message shows it: as it is, unless that takes many zeros or digits. */
static const char *
number_text(KvNumberState state, Numeric number)
{
	NumberParts parts;
	NumberFacts facts = {0};

	take_apart(number, &parts);
	if (!parts.special)
		find_facts(&parts, &facts);
	if (parts.special ||
		(state == KV_NUMBER_TOO_LONG && facts.significant <= MAX_SHOWN &&
		 Max(facts.exponent, facts.dscale) <= MAX_SHOWN))
		return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));
	return numeric_out_sci(number, Min(facts.significant - 1, MAX_DIGITS));
}

/* Raises the error for a number that does not fit. */
void
kv_number_report(KvNumberState state, Numeric number, const char *text, const KvPath *path)
{
	const char *place = path == NULL ? "" : psprintf(" of attribute \"%s\"", kv_path_text(path));

	if (text == NULL)
		text = number_text(state, number);
	if (state == KV_NUMBER_TOO_LONG)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("number %s%s has more than %d significant digits", text, place, MAX_DIGITS)));
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("number %s%s is out of range", text, place),
			 errdetail("A number is zero or has a magnitude from 1E-130 to 9.9999999999999999999999999999999999999E+125.")));
	pg_unreachable();
}
