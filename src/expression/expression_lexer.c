/*
 * expression_lexer.c
 *	  Cuts an expression into tokens.
 *
 * A bare name is a letter followed by letters, digits and underscores, all
 * ASCII; a placeholder is # or : followed by at least one of these.  Anything
 * else in an attribute's name needs a #name.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* Tells whether a byte is an ASCII letter. */
static inline bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Tells whether a byte is an ASCII digit. */
static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Tells whether a byte can stand inside a name. */
static inline bool
is_word(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

/* Starts at the first token. */
void
kv_lexer_init(KvLexer *lexer, const KvSource *source)
{
	lexer->source = source;
	lexer->type = KV_TOKEN_END;
	lexer->span.start = 0;
	lexer->span.length = 0;
	kv_lexer_next(lexer);
}

/* Raises the error for a character that begins no token, with advice where people usually trip. */
static void
bad_character(const KvLexer *lexer)
{
	const KvSource *source = lexer->source;
	char		c = source->text[lexer->span.start];

	if (c == '\'' || c == '"')
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source, lexer->span, "syntax error"),
				 errhint("Write values as :value placeholders and give them in attribute_values.")));
	if (IS_HIGHBIT_SET(c) || c == '_' || c == '$' || c == '@')
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source, lexer->span, "syntax error"),
				 errhint("Write an attribute name with such a character as a #name placeholder and give it in attribute_names.")));
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(source, lexer->span, "syntax error")));
}

/* Returns the type of a one-byte token; KV_TOKEN_END if there is none. */
static KvTokenType
one_byte_token(char c)
{
	switch (c)
	{
		case '=':
			return KV_TOKEN_EQ;
		case '<':
			return KV_TOKEN_LT;
		case '>':
			return KV_TOKEN_GT;
		case '(':
			return KV_TOKEN_OPEN;
		case ')':
			return KV_TOKEN_CLOSE;
		case '[':
			return KV_TOKEN_OPEN_BRACKET;
		case ']':
			return KV_TOKEN_CLOSE_BRACKET;
		case ',':
			return KV_TOKEN_COMMA;
		case '.':
			return KV_TOKEN_DOT;
		case '+':
			return KV_TOKEN_PLUS;
		case '-':
			return KV_TOKEN_MINUS;
		default:
			return KV_TOKEN_END;
	}
}

/* Reads an operator or another sign that begins at p. */
static void
read_sign(KvLexer *lexer, const char *p, const char *end)
{
	lexer->span.length = 1;
	lexer->type = one_byte_token(*p);
	if (lexer->type == KV_TOKEN_END)
	{
		lexer->span.length = Min(pg_mblen(p), end - p);
		bad_character(lexer);
	}
	if (p + 1 < end && (*p == '<' || *p == '>'))
	{
		if (p[1] == '=')
			lexer->type = (*p == '<') ? KV_TOKEN_LE : KV_TOKEN_GE;
		else if (*p == '<' && p[1] == '>')
			lexer->type = KV_TOKEN_NE;
		else
			return;
		lexer->span.length = 2;
	}
}

/* Goes on to the next token. */
void
kv_lexer_next(KvLexer *lexer)
{
	const char *p = lexer->source->text + lexer->span.start + lexer->span.length;
	const char *end = lexer->source->text + lexer->source->length;
	const char *start;

	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	lexer->previous = lexer->span;
	lexer->span.start = p - lexer->source->text;
	lexer->span.length = 0;
	lexer->type = KV_TOKEN_END;
	if (p == end)
		return;

	start = p;
	if (is_letter(*p))
	{
		lexer->type = KV_TOKEN_NAME;
		while (p < end && is_word(*p))
			p++;
	}
	else if ((*p == '#' || *p == ':') && p + 1 < end && is_word(p[1]))
	{
		lexer->type = (*p == '#') ? KV_TOKEN_NAME_PLACEHOLDER : KV_TOKEN_VALUE_PLACEHOLDER;
		p++;
		while (p < end && is_word(*p))
			p++;
	}
	else if (is_digit(*p))
	{
		lexer->type = KV_TOKEN_NUMBER;
		while (p < end && is_digit(*p))
			p++;
	}
	else
	{
		read_sign(lexer, p, end);
		return;
	}
	lexer->span.length = p - start;
}

/* Tells whether the current token is this keyword. */
bool
kv_lexer_at_keyword(const KvLexer *lexer, const char *keyword)
{
	return lexer->type == KV_TOKEN_NAME &&
		strlen(keyword) == lexer->span.length &&
		pg_strncasecmp(lexer->source->text + lexer->span.start, keyword, lexer->span.length) == 0;
}

/* Raises the syntax error for the current token. */
void
kv_lexer_syntax_error(const KvLexer *lexer)
{
	if (lexer->type == KV_TOKEN_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(lexer->source, lexer->span, "syntax error"),
				 errhint("Write values as :value placeholders and give them in attribute_values.")));
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(lexer->source, lexer->span, "syntax error")));
}
