/*
 * dynamodb_message.c
 *	  Messages of errors as DynamoDB words them.
 *
 * Errors come from the functions that SQL calls too, whose messages say where
 * in an expression they are.  Here they become those that existing clients
 * know; what was said before goes into HINT.  A message for which there is no
 * wording here stays as it is.
 *
 * Source of the messages: of updates, API reference, TransactWriteItems,
 * CancellationReasons, "Validation Error".  The documentation does not list the
 * others: they are worded as clients are known to have got them.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "base/compat.h"
#include "dynamodb/dynamodb.h"

#define MAX_CAPTURES 5
#define PARAMETERS "One or more parameter values were invalid: "
#define ONE_ERROR "1 validation error detected: "
#define MISMATCH "The provided key element does not match the schema"
#define LEGACY_TOKEN "; token \":_$4"

/*
 * A wording: how messages read here and there.  $1 to $5 stand for any text,
 * $2% for the long name of the type that $2 is.
 */
typedef struct Wording
{
	const char *operation;		/* for which alone it holds; NULL: for all */
	const char *ours;
	const char *theirs;
} Wording;

/* The first that fits is taken. */
static const Wording wordings[] = {
	/* an item and its update */
	{NULL, "invalid UpdateExpression: attribute does not exist in the item; $1",
	"The provided expression refers to an attribute that does not exist in the item"},
	{NULL, "invalid UpdateExpression: document path is invalid for update; $1",
	"The document path provided in the update expression is invalid for update"},
	{NULL, "invalid UpdateExpression: incorrect data type for $1",
	"An operand in the update expression has an incorrect data type"},
	{NULL, "invalid UpdateExpression: the value makes the item nest more than $1", "Nesting Levels have exceeded supported limits"},
	{"UpdateItem", "index key attribute \"$1\" is too long: $2",
	"The update expression attempted to update the secondary index key beyond allowed size limits"},
	{"UpdateItem", "index key attribute \"$1\" has the wrong type: $2",
	"The update expression attempted to update the secondary index key to unsupported type"},
	{"UpdateItem", "item is too large: $1", "Item size to update has exceeded the maximum allowed size"},
	{NULL, "item is too large: $1", "Item size has exceeded the maximum allowed size"},

	/* values */
	{NULL, "attribute \"$1\" is nested too deeply", "Nesting Levels have exceeded supported limits"},
	{NULL, "attribute \"$1\" is not in typed JSON",
	"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
	{NULL, "attribute \"$1\" has more than one type in typed JSON",
	"Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
	{NULL, "attribute \"$1\" is not a number: \"$2\"", "The parameter cannot be converted to a numeric value: $2"},
	{NULL, "number $1 has more than $2 significant digits", "Attempting to store more than 38 significant digits in a Number"},
	{NULL, "number $1E-$2 is out of range", "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
	{NULL, "number $1e-$2 is out of range", "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
	{NULL, "number 0.$1 is out of range", "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
	{NULL, "number -0.$1 is out of range", "Number underflow. Attempting to store a number with magnitude smaller than supported range"},
	{NULL, "number $1 is out of range", "Number overflow. Attempting to store a number with magnitude larger than supported range"},
	{NULL, "set in attribute $1", PARAMETERS "set in attribute $1"},
	{NULL, "malformed value of attribute $1", PARAMETERS "malformed value of attribute $1"},
	{NULL, "attribute name $1", PARAMETERS "attribute name $1"},

	/* keys */
	{"Query", "key attribute \"$1\" is missing", "The provided starting key is invalid"},
	{"Query", "key attribute \"$1\" has the wrong type: $2", "The provided starting key is invalid"},
	{"Query", "attribute \"$1\" is not part of the key", "The provided starting key is invalid"},
	{"Scan", "key attribute \"$1\" $2", "The provided starting key is invalid: " MISMATCH},
	{"Scan", "attribute \"$1\" is not part of the key", "The provided starting key is invalid: " MISMATCH},
	{NULL, "$1 does not belong to this scan", "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment."},
	{NULL, "$1 does not belong to this query", "The provided starting key is outside query boundaries based on provided conditions"},
	{NULL, "key attribute \"$1\" is empty",
	"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: $1"},
	{NULL, "index key attribute \"$1\" is empty",
	"One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
	"The AttributeValue for a key attribute cannot contain an empty string value. IndexKey: $1"},
	{NULL, "index key attribute \"$1\" has the wrong type: expected $2, given $3",
	PARAMETERS "Type mismatch for Index Key $1 Expected: $2 Actual: $3"},
	{"PutItem", "key attribute \"$1\" is missing", PARAMETERS "Missing the key $1 in the item"},
	{"PutItem", "key attribute \"$1\" has the wrong type: expected $2, given $3",
	PARAMETERS "Type mismatch for key $1 expected: $2 actual: $3"},
	{NULL, "key attribute \"$1\" is missing", MISMATCH},
	{NULL, "key attribute \"$1\" has the wrong type: $2", MISMATCH},
	{NULL, "attribute \"$1\" is not part of the key", MISMATCH},
	{NULL, "key attribute \"$1\" is too long: $2", PARAMETERS "key attribute \"$1\" is too long: $2"},

	/* expressions that were made of legacy parameters */
	{NULL, "invalid $1: incorrect operand type for begins_with: $2" LEGACY_TOKEN,
	PARAMETERS "ComparisonOperator BEGINS_WITH is not valid for $2 AttributeValue type"},
	{NULL, "invalid $1: incorrect operand type for <: $2" LEGACY_TOKEN,
	PARAMETERS "ComparisonOperator LT is not valid for $2 AttributeValue type"},
	{NULL, "invalid $1: incorrect operand type for <=: $2" LEGACY_TOKEN,
	PARAMETERS "ComparisonOperator LE is not valid for $2 AttributeValue type"},
	{NULL, "invalid $1: incorrect operand type for >: $2" LEGACY_TOKEN,
	PARAMETERS "ComparisonOperator GT is not valid for $2 AttributeValue type"},
	{NULL, "invalid $1: incorrect operand type for >=: $2" LEGACY_TOKEN,
	PARAMETERS "ComparisonOperator GE is not valid for $2 AttributeValue type"},
	{NULL, "invalid $1: incorrect operand type for BETWEEN: $2" LEGACY_TOKEN,
	PARAMETERS "ComparisonOperator BETWEEN is not valid for $2 AttributeValue type"},
	{NULL, "invalid $1: the upper bound of BETWEEN is less than the lower bound" LEGACY_TOKEN,
	"The BETWEEN condition was provided a range where the lower bound is bigger than the upper bound"},
	{NULL, "invalid UpdateExpression: incorrect operand type for ADD: $2" LEGACY_TOKEN,
	PARAMETERS "Action ADD is not supported for the type $2"},
	{NULL, "invalid UpdateExpression: incorrect operand type for DELETE: $2" LEGACY_TOKEN,
	PARAMETERS "Action DELETE is not supported for the type $2"},

	{NULL, "invalid ProjectionExpression: two document paths overlap with each other: [$1] and $2; token \"#_$3",
	PARAMETERS "Duplicate value in attribute name: $1"},

	/* expressions */
	{NULL, "invalid $1: attribute value placeholder is not defined; token \"$2\", position $3",
	"Invalid $1: An expression attribute value used in expression is not defined; attribute value: $2"},
	{NULL, "invalid $1: attribute name placeholder is not defined; token \"$2\", position $3",
	"Invalid $1: An expression attribute name used in the document path is not defined; attribute name: $2"},
	{NULL, "$1 defines \"$2\", which no expression uses", "Value provided in $1 unused in expressions: keys: {$2}"},
	{NULL, "$1 contains the invalid key \"$2\"", "$1 contains invalid key: Syntax error; key: \"$2\""},
	{NULL, "invalid $1: attribute name is a reserved word; token \"$2\", position $3",
	"Invalid $1: Attribute name is a reserved keyword; reserved keyword: $2"},
	{NULL, "invalid $1: expression is empty; $2", "Invalid $1: The expression can not be empty;"},
	{NULL, "invalid $1: $2 bytes exceed the limit of $3",
	"Invalid $1: Expression size has exceeded the maximum allowed size; expression size: $2"},
	{NULL, "invalid $1: syntax error; token \"$2\", position $3", "Invalid $1: Syntax error; token: \"$2\""},
	{NULL, "invalid $1: invalid function name; token \"$2\", position $3", "Invalid $1: Invalid function name; function: $2"},
	{NULL, "invalid UpdateExpression: function is not allowed in this kind of expression; token \"$2\", position $3",
	"Invalid UpdateExpression: The function is not allowed in an update expression; function: $2"},
	{NULL, "invalid $1: function is not allowed in this kind of expression; token \"$2\", position $3",
	"Invalid $1: The function is not allowed in a condition expression; function: $2"},
	{NULL, "invalid $1: function cannot be used this way; token \"$2\", position $3",
	"Invalid $1: The function is not allowed to be used this way in an expression; function: $2"},
	{NULL, "invalid $1: incorrect number of operands, $2 instead of $3; token \"$4\", position $5",
	"Invalid $1: Incorrect number of operands for operator or function; operator or function: $4, number of operands: $2"},
	{NULL, "invalid UpdateExpression: incorrect operand type for ADD: $2; $3",
	"Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: $2%"},
	{NULL, "invalid UpdateExpression: incorrect operand type for DELETE: $2; $3",
	"Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: $2%"},
	{NULL, "invalid $1: incorrect operand type for $2: $3; token $5",
	"Invalid $1: Incorrect operand type for operator or function; operator or function: $2, operand type: $3"},
	{NULL, "invalid $1: the upper bound of BETWEEN is less than the lower bound; $2",
	"Invalid $1: The BETWEEN operator requires upper bound to be greater than or equal to lower bound"},
	{NULL, "invalid $1: the bounds of BETWEEN are of different types, $2; token $5",
	"Invalid $1: The BETWEEN operator requires same data type for lower and upper bounds"},
	{NULL, "invalid $1: the first operand of $2 must be distinct from the others; token \"$3\", position $4",
	"Invalid $1: The first operand must be distinct from the remaining operands for this operator or function; operator: $2, first operand: [$3]"},
	{NULL, "invalid $1: the operand of $2 must be a document path; $3",
	"Invalid $1: Operator or function requires a document path; operator or function: $2"},
	{NULL, "invalid $1: the first operand of if_not_exists must be a document path; $2",
	"Invalid $1: Operator or function requires a document path; operator or function: if_not_exists"},
	{NULL, "invalid $1: invalid attribute type name \"$2\"; $3",
	"Invalid $1: Invalid attribute type name found; type: $2, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
	{NULL, "invalid $1: the $2 clause can be used only once; $3",
	"Invalid $1: The \"$2\" section can only be used once in an update expression;"},
	{NULL, "invalid $1: two document paths overlap with each other: $2 and $3; token $5",
	"Invalid $1: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: $2, path two: $3"},
	{NULL, "invalid $1: two document paths conflict with each other: $2 and $3; token $5",
	"Invalid $1: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: $2, path two: $3"},
	{NULL, "invalid UpdateExpression: attribute \"$1\" is part of the key and cannot be updated; $2",
	PARAMETERS "Cannot update attribute $1. This attribute is part of the key"},
	{NULL, "invalid $1: key attribute \"$2\" is not allowed in the filter of a query; $3",
	"Filter Expression can only contain non-primary key attributes: Primary key attribute: $2"},

	/* key conditions */
	{NULL, "invalid $1: no condition on the partition key \"$2\"", "Query condition missed key schema element: $2"},
	{NULL, "invalid $1: operator is not supported on the partition key $2", "Query key condition not supported"},
	{NULL, "invalid $1: attribute is not a key attribute; $2", "Query key condition not supported"},
	{NULL, "invalid $1: operator is not supported in a key condition; token \"$2\", position $3",
	"Invalid operator used in KeyConditionExpression: $2"},
	{NULL, "invalid $1: only one condition per key attribute is allowed; $2", "KeyConditionExpressions must only contain one condition per key"},
	{NULL, "invalid $1: nested attributes are not supported in a key condition; $2",
	"KeyConditionExpressions cannot have conditions on nested attributes"},
	{NULL, "invalid $1: value is of type $2, but key attribute $3",
	PARAMETERS "Condition parameter type does not match schema type"},
	{NULL, "invalid $1: $2; token \"$3\", position $4", "Invalid $1: $2; token: \"$3\""},

	/* reads */
	{NULL, "TotalSegments is given without Segment",
	"The Segment parameter is required but was not present in the request when parameter TotalSegments is present"},
	{NULL, "Segment is given without TotalSegments",
	"The TotalSegments parameter is required but was not present in the request when Segment parameter is present"},
	{NULL, "Segment $1 is not less than TotalSegments $2",
	"The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: $1 is not less than TotalSegments: $2"},
	{NULL, "Limit must be at least 1, not $1",
	ONE_ERROR "Value '$1' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"},
	{NULL, "Segment must be at least 0, not $1",
	ONE_ERROR "Value '$1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0"},
	{NULL, "TotalSegments must be between 1 and $1, not $2",
	ONE_ERROR "Value '$2' at 'totalSegments' failed to satisfy constraint: Member must have value between 1 and $1"},
	{NULL, "consistent reads are not supported on global index $1", "Consistent reads are not supported on global secondary indexes"},
	{NULL, "index \"$1\" does not project all attributes",
	PARAMETERS "Select type ALL_ATTRIBUTES is not supported for global secondary index $1 because its projection type is not ALL"},
	{NULL, "index \"$1\" does not project attribute \"$2\"", PARAMETERS "Global secondary index $1 does not project $2"},

	/* tables; the first two while somebody else made or dropped it */
	{"CreateTable", "relation \"$1\" already exists in schema $2", "Table already exists: $1"},
	{NULL, "relation with OID $1 does not exist", "Requested resource not found"},
	{NULL, "partition key and sort key must not both be called $1",
	"Both the Hash Key and the Range Key element in the KeySchema have the same name"},
	{"CreateTable", "table \"$1\" has no sort key",
	PARAMETERS "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"},
	{NULL, "projection INCLUDE needs the attributes to be included", PARAMETERS "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"},
	{NULL, "NonKeyAttributes is given without projection INCLUDE", PARAMETERS "ProjectionType is not INCLUDE, but NonKeyAttributes is specified"},

	/* batches and transactions */
	{NULL, "request has 0 writes", ONE_ERROR "Value at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
	{NULL, "request has no writes for table \"$1\"",
	ONE_ERROR "Value at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
	"[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]"},
	{NULL, "request has no keys for table \"$1\"",
	ONE_ERROR "Value '[]' at 'requestItems.$1.member.keys' failed to satisfy constraint: Member must have length greater than or equal to 1"},
	{NULL, "request has 0 keys", ONE_ERROR "Value at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
	{NULL, "request has 0 actions", ONE_ERROR "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
	{NULL, "request has $1 writes", "Too many items requested for the BatchWriteItem call"},
	{"BatchGetItem", "request has $1 tables", ONE_ERROR "Value at 'requestItems' failed to satisfy constraint: Member must have length less than or equal to 100"},
	{"BatchWriteItem", "request has $1 tables", ONE_ERROR "Value at 'requestItems' failed to satisfy constraint: Member must have length less than or equal to 25"},
	{NULL, "request has $1 keys", "Too many items requested for the BatchGetItem call"},
	{NULL, "request has $1 actions", ONE_ERROR "Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"},
	{NULL, "actions $1 have the same key $2", "Transaction request cannot include multiple operations on one item"},
	{NULL, "writes $1 have the same key $2", "Provided list of item keys contains duplicates"},
	{NULL, "keys $1 have the same key $2", "Provided list of item keys contains duplicates"},
	{"TransactWriteItems", "action must have exactly one of $1", "TransactItems can only contain one of Check, Put, Update or Delete"},
	{NULL, "client request token has 0 characters",
	ONE_ERROR "Value '' at 'clientRequestToken' failed to satisfy constraint: Member must have length greater than or equal to 1"},
	{NULL, "client request token has $1 characters",
	ONE_ERROR "Value at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36"}
};

/* What a wildcard stands for. */
typedef struct Capture
{
	const char *start;
	int			length;
} Capture;

/* Tells whether a message fits a pattern, and what its wildcards stand for: each as little as can be, the last one the rest. */
static bool
fits(const char *pattern, const char *message, Capture *captures)
{
	while (*pattern)
	{
		Capture    *capture;
		int			literal;

		if (*pattern != '$')
		{
			if (*pattern++ != *message++)
				return false;
			continue;
		}
		capture = &captures[pattern[1] - '1'];
		pattern += 2;
		literal = strcspn(pattern, "$");
		capture->start = message;
		/* what ends the pattern ends the message */
		if (pattern[literal] == '\0')
		{
			capture->length = (int) strlen(message) - literal;
			return capture->length >= 0 && strcmp(message + capture->length, pattern) == 0;
		}
		while (*message && strncmp(message, pattern, literal) != 0)
			message++;
		if (*message == '\0')
			return false;
		capture->length = message - capture->start;
	}
	return *message == '\0';
}

/* Returns the long name of a type, as errors of ADD and DELETE have it. */
static const char *
long_name(const Capture *type)
{
	static const char *const names[][2] = {
		{"S", "STRING"}, {"N", "NUMBER"}, {"B", "BINARY"}, {"SS", "STRING_SET"}, {"NS", "NUMBER_SET"},
		{"BS", "BINARY_SET"}, {"M", "MAP"}, {"L", "LIST"}, {"BOOL", "BOOLEAN"}
	};

	for (int i = 0; i < lengthof(names); i++)
		if (strlen(names[i][0]) == type->length && memcmp(names[i][0], type->start, type->length) == 0)
			return names[i][1];
	return pnstrdup(type->start, type->length);
}

/* Returns a wording with what its wildcards stand for. */
static char *
fill(const char *theirs, const Capture *captures)
{
	StringInfoData text;

	initStringInfo(&text);
	for (const char *c = theirs; *c; c++)
	{
		const Capture *capture;

		if (*c != '$')
		{
			appendStringInfoChar(&text, *c);
			continue;
		}
		capture = &captures[*++c - '1'];
		if (c[1] != '%')
			appendBinaryStringInfo(&text, capture->start, capture->length);
		else
		{
			appendStringInfoString(&text, long_name(capture));
			c++;
		}
	}
	return text.data;
}

/* Returns what the service says; NULL: nothing else. */
char *
kv_dynamodb_message(const char *operation, const char *message)
{
	Capture		captures[MAX_CAPTURES] = {{0}};

	for (int i = 0; i < lengthof(wordings); i++)
		if ((wordings[i].operation == NULL || strcmp(wordings[i].operation, operation) == 0) &&
			fits(wordings[i].ours, message, captures))
			return fill(wordings[i].theirs, captures);
	return NULL;
}
