/*
 * item_base64.c
 *	  Base64 as binary values are written in JSON (RFC 4648, section 4).
 *
 * Accepted is the standard alphabet with its padding.  White space is skipped
 * as core's decode() does, because core's encode() breaks long lines, and so
 * are unused bits in the last character.  Canonical is what encode() gives
 * without the line breaks; two canonical texts are equal exactly when their
 * bytes are.
 */
#include "postgres.h"

#include "item/item_internal.h"

#define SKIP	-2				/* white space */
#define PAD		-3				/* = */

static const char alphabet[] =
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Returns the six bits that a character stands for, or a negative class. */
static inline int
sextet(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	if (c == '/')
		return 63;
	if (c == '=')
		return PAD;
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return SKIP;
	return -1;
}

/* Checks base64 text and counts its bytes. */
KvBase64State
kv_base64_check(const char *text, int length, int *byte_count)
{
	KvBase64State state = KV_BASE64_CANONICAL;
	int			digits = 0;
	int			padding = 0;
	int			last = 0;
	int			i;

	*byte_count = 0;
	for (i = 0; i < length; i++)
	{
		int			bits = sextet(text[i]);

		if (bits == SKIP)
			state = KV_BASE64_ACCEPTED;
		else if (bits == PAD)
			padding++;
		else if (bits < 0 || padding > 0)
			return KV_BASE64_INVALID;
		else
		{
			digits++;
			last = bits;
		}
	}
	if ((digits + padding) % 4 != 0 || padding > 2 || digits % 4 == 1)
		return KV_BASE64_INVALID;
	if ((padding == 2 && (last & 0x0F) != 0) || (padding == 1 && (last & 0x03) != 0))
		state = KV_BASE64_ACCEPTED;
	*byte_count = digits / 4 * 3 + (digits % 4 == 0 ? 0 : digits % 4 - 1);
	return state;
}

/* Decodes text that has been checked. */
int
kv_base64_decode(const char *text, int length, char *bytes)
{
	uint32		buffer = 0;
	int			have = 0;
	int			count = 0;
	int			i;

	for (i = 0; i < length; i++)
	{
		int			bits = sextet(text[i]);

		if (bits < 0)
			continue;
		buffer = (buffer << 6) | bits;
		have += 6;
		if (have >= 8)
		{
			have -= 8;
			bytes[count++] = (char) ((buffer >> have) & 0xFF);
		}
	}
	return count;
}

/* Encodes bytes canonically. */
int
kv_base64_encode(const char *bytes, int length, char *text)
{
	const unsigned char *in = (const unsigned char *) bytes;
	char	   *out = text;
	int			i;

	for (i = 0; i + 2 < length; i += 3)
	{
		uint32		group = (uint32) in[i] << 16 | (uint32) in[i + 1] << 8 | in[i + 2];

		*out++ = alphabet[group >> 18];
		*out++ = alphabet[(group >> 12) & 0x3F];
		*out++ = alphabet[(group >> 6) & 0x3F];
		*out++ = alphabet[group & 0x3F];
	}
	if (i < length)
	{
		uint32		group = (uint32) in[i] << 16 | (i + 1 < length ? (uint32) in[i + 1] << 8 : 0);

		*out++ = alphabet[group >> 18];
		*out++ = alphabet[(group >> 12) & 0x3F];
		*out++ = i + 1 < length ? alphabet[(group >> 6) & 0x3F] : '=';
		*out++ = '=';
	}
	return out - text;
}

/*
 * Orders two canonical texts as the bytes that they stand for.  Six bits at a
 * time order as eight do, and unused bits are zero, so nothing is decoded.
 */
int
kv_base64_compare(const char *a, int a_length, const char *b, int b_length)
{
	int			i;

	while (a_length > 0 && a[a_length - 1] == '=')
		a_length--;
	while (b_length > 0 && b[b_length - 1] == '=')
		b_length--;
	for (i = 0; i < a_length && i < b_length; i++)
	{
		if (a[i] != b[i])
			return sextet(a[i]) < sextet(b[i]) ? -1 : 1;
	}
	return a_length == b_length ? 0 : (a_length < b_length ? -1 : 1);
}
