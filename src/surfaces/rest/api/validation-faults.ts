import type { ErrorObject } from 'ajv';
import { closest, distance } from 'fastest-levenshtein';
import type { ErrorKind, FieldFault } from '../../../base/errors.ts';
import { numberRule } from '../../../base/money.ts';
import { timeRule } from './query-values.ts';

/**
 * Schema keywords about a request's shape answer 400, all others 422:
 * docs/adr/0002-status-400-or-422.md.
 */
const shapeKeywords: Record<string, ErrorKind> = {
  required: 'missing_field',
  type: 'invalid_type',
  additionalProperties: 'unknown_field',
  enum: 'unknown_value',
  const: 'unknown_value',
  'false schema': 'invalid_request',
};

/** Schema keywords about the size of metadata. */
const metadataSizes = ['maxProperties', 'propertyNames', 'maxLength', 'minLength'];

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

/** Turns schema errors into faults with our wording: one fault for each member, at most 50. */
export function faultsOf(errors: readonly ErrorObject[], members: readonly string[]): readonly FieldFault[] {
  if (errors.length === 0) return none;
  const faults = new Map<string, FieldFault>();
  for (const error of errors) {
    // The errors of a condition and of its alternatives only repeat what the others say.
    if (error.keyword === 'if' || error.schemaPath.includes('/oneOf/')) continue;
    const fault = error.keyword === 'oneOf' ? alternativeFault(error) : faultOf(error, members);
    // Only the first fault of a member is kept. The others would repeat it.
    if (!faults.has(fault.field)) faults.set(fault.field, fault);
  }
  return [...faults.values()].slice(0, 50);
}

const none: readonly FieldFault[] = [];

/** The fault of a body that has none, or several, of the members of which it must have one. */
function alternativeFault({ schema, params }: ErrorObject): FieldFault {
  const names = (schema as { required: string[] }[]).flatMap(({ required }) => required);
  const [first = ''] = names;
  if (params.passingSchemas === null) {
    return { field: first, kind: 'missing_field', detail: `${names.join(' or ')} is missing` };
  }
  return { field: first, kind: 'invalid_request', detail: `only one of ${names.join(' and ')} can be sent` };
}

function faultOf(error: ErrorObject, members: readonly string[]): FieldFault {
  const [, place = '', ...rest] = error.instancePath.split('/');
  const own = rest.join('.');
  const { keyword, params } = error;
  if (keyword === 'required' && params.missingProperty === 'requestBody') {
    return { field: 'body', kind: 'missing_field', detail: 'a JSON object is needed as the body' };
  }
  const named =
    keyword === 'required'
      ? params.missingProperty
      : keyword === 'additionalProperties'
        ? params.additionalProperty
        : '';
  const field = ([own, String(named)].filter((part) => part !== '').join('.') || 'body').slice(0, 60);
  if (place === 'header' && field.toLowerCase() === 'idempotency-key') {
    const detail = 'Idempotency-Key must be 1 to 255 visible ASCII characters';
    return { field: 'Idempotency-Key', kind: 'invalid_idempotency_key', detail };
  }
  if (place === 'header' && field.toLowerCase() === 'amounts') {
    const detail = 'Amounts must be string, or be left out';
    return { field: 'Amounts', kind: 'invalid_amounts_header', detail };
  }
  if (place === 'header' && keyword === 'maxLength') {
    return { field, kind: 'headers_too_large', detail: detailOf(error, field, members) };
  }
  // The body parser makes NaN of a number that it cannot keep exactly.
  if (keyword === 'type' && params.type === 'number' && Number.isNaN(error.data)) {
    return { field, kind: 'invalid_number', detail: `${field} must be ${numberRule}` };
  }
  const isMetadata = /^metadata\b/.test(field) && metadataSizes.includes(keyword);
  if (isMetadata) {
    const detail = 'metadata must have at most 20 keys of 1 to 40 characters, with values of at most 500';
    return { field: 'metadata', kind: 'metadata_too_large', detail };
  }
  const kind = shapeKeywords[keyword] ?? (/^amount/.test(field) ? 'invalid_amount' : 'invalid_value');
  return { field, kind, detail: detailOf(error, field, members) };
}

function detailOf(
  { keyword, params, instancePath, data }: ErrorObject,
  field: string,
  members: readonly string[],
): string {
  switch (keyword) {
    case 'required':
      return `${field} is missing`;
    case 'additionalProperties': {
      const near = members.length > 0 ? closest(field, [...members]) : '';
      const hint = near && distance(field, near) <= 3 ? `; did you mean '${near}'?` : '';
      return `'${field}' is not a member of this request${hint}`;
    }
    case 'type': {
      if (instancePath.startsWith('/query/amount')) return `${field} must be ${numberRule}`;
      if (params.type === 'integer' && typeof data === 'string' && /^\d{9,}$/.test(data))
        return `${field} is too large`;
      // The body parser makes NaN of a number that it cannot keep exactly.
      if (params.type === 'integer' && Number.isNaN(data)) return `${field} is too large, or is no number`;
      const wanted = String(params.type)
        .split(',')
        .map((name) => typeNames[name] ?? name);
      return `${field} must be ${wanted.join(' or ')}`;
    }
    case 'enum':
      return `${field} must be one of: ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'false schema':
      return `${field} cannot be sent together with ${field.replace(/^(coin|network)/, 'asset')}`;
    case 'exclusiveMinimum':
      return `${field} must be greater than ${params.limit}`;
    case 'minLength':
      return `${field} must not be empty`;
    case 'maxLength':
      return `${field} must have at most ${params.limit} characters`;
    case 'minimum':
      return `${field} must be at least ${params.limit}`;
    case 'maximum':
      return `${field} must be at most ${params.limit}`;
    case 'maxItems':
      return `${field} must have at most ${params.limit} items`;
    case 'format':
      if (params.format === 'date-time') return `${field} must be ${timeRule}`;
      return `${field} is not acceptable; see the documentation of this request`;
    default:
      return `${field} is not acceptable; see the documentation of this request`;
  }
}
