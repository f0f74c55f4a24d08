import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: a contract whose parts are damaged one by one
type Part = any;

interface Fault {
  /** The rule that has to find it, and a part of its message. */
  readonly rule: string;
  readonly says: string;
  readonly damage: (contract: Part) => void;
}

const operation = (contract: Part): Part => contract.paths['/partner/orders'].post;

/** An operation with its answers written out, so that a damage concerns it alone. */
function answers(contract: Part): Part {
  const found = operation(contract).responses;
  for (const [status, { $ref }] of Object.entries<Part>(found)) {
    if ($ref) found[status] = structuredClone(contract.components.responses[$ref.split('/').at(-1)]);
  }
  return found;
}

function schema(contract: Part, name: string, value: Part): void {
  contract.components.schemas.Currency.properties[name] = value;
}

const parameter = (name: string, type: object) => (contract: Part) => {
  operation(contract).parameters ??= [];
  operation(contract).parameters.push({ name, in: 'query', description: 'Damaged.', schema: type });
};

const faults: readonly Fault[] = [
  { rule: 'bounds', says: 'a string needs', damage: (it) => schema(it, 'text', { type: ['string', 'null'] }) },
  { rule: 'bounds', says: 'an array needs', damage: (it) => schema(it, 'list', { type: 'array', items: {} }) },
  {
    rule: 'bounds',
    says: 'needs a format',
    damage: (it) => schema(it, 'raw', { type: 'integer', minimum: 0, maximum: 9 }),
  },
  { rule: 'bounds', says: 'lower bound', damage: (it) => schema(it, 'most', { type: 'integer', maximum: 9 }) },
  { rule: 'bounds', says: 'upper bound', damage: (it) => schema(it, 'least', { type: 'integer', minimum: 0 }) },
  { rule: 'answers', says: 'an answer 500', damage: (it) => delete answers(it)['500'] },
  { rule: 'answers', says: 'an answer 429', damage: (it) => delete it.paths['/partner/rates'].get.responses['429'] },
  { rule: 'answers', says: 'Retry-After', damage: (it) => delete answers(it)['429'].headers['Retry-After'] },
  { rule: 'answers', says: 'RateLimit-Policy', damage: (it) => delete answers(it)['422'].headers['RateLimit-Policy'] },
  {
    rule: 'access',
    says: 'POST /partner/orders needs',
    damage: (it) => {
      operation(it).security = [];
    },
  },
  {
    rule: 'schemes',
    says: 'not be part of an address',
    damage: (it) => {
      it.components.securitySchemes.damaged = { type: 'apiKey', in: 'query', name: 'key' };
    },
  },
  {
    rule: 'schemes',
    says: 'basic is not safe',
    damage: (it) => {
      it.components.securitySchemes.basic = { type: 'http', scheme: 'basic' };
    },
  },
  { rule: 'parameters', says: 'a secret', damage: parameter('api_key', { type: 'string', maxLength: 9 }) },
  { rule: 'parameters', says: 'can be guessed', damage: parameter('order_id', { type: 'integer' }) },
  { rule: 'servers', says: 'needs https', damage: (it) => it.servers.push({ url: 'http://a.example' }) },
  { rule: 'servers', says: 'needs x-internal', damage: (it) => it.servers.push({ url: 'https://b.example' }) },
  { rule: 'servers', says: 'its environment', damage: (it) => it.servers.push({ url: 'https://c.example' }) },
];

/** What the linter of `npm run lint` finds in a contract: rule and message. */
function problems(contract: object): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    const path = join(folder, 'openapi.json');
    writeFileSync(path, JSON.stringify(contract));
    const args = ['lint', path, '--config', 'tools/redocly.yaml', '--format', 'json', '--max-problems', '1000'];
    const { stdout } = spawnSync(process.execPath, ['node_modules/@redocly/cli/bin/cli.js', ...args], {
      encoding: 'utf8',
    });
    const found = JSON.parse(stdout) as { problems: { ruleId: string; message: string; severity: string }[] };
    return found.problems.map(({ ruleId, message, severity }) => `${severity} ${ruleId}: ${message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the rules of the contract', () => {
  it('find a damage of each kind, and nothing in the contract itself', () => {
    const contract: Part = parse(readFileSync('openapi.yaml', 'utf8'));
    expect(problems(contract)).toEqual([]);

    for (const { damage } of faults) damage(contract);
    const found = problems(contract);
    const missed = faults.filter(
      ({ rule, says }) => !found.some((line) => line.startsWith(`error contract/${rule}: `) && line.includes(says)),
    );
    expect(missed.map(({ rule, says }) => `${rule}: ${says}`)).toEqual([]);
  });
});
