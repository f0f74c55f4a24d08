import { buildSchema, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { isPermitted, permissions } from '../../../src/accounts/staff/permissions.ts';
import { type StaffRole, staffRoles } from '../../../src/accounts/staff/staff-member.entity.ts';
import { buildStaffSchema } from '../../../src/surfaces/graphql/schema.ts';
import { documentPermissions, permissionOf } from '../../../src/surfaces/graphql/server/requires-permission.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { rootFields, selectionOf } from '../../support/http/schema-walk.ts';
import { newMember, staffClient } from '../../support/staff/staff-client.ts';

const schema = await buildStaffSchema();
const members = new Map<StaffRole, Awaited<ReturnType<typeof newMember>>>();
let gateway: SettledGateway;

beforeAll(async () => {
  gateway = await startSettledGateway();
  for (const role of staffRoles) members.set(role, await newMember(gateway, role));
});
afterAll(() => gateway?.stop());

function memberOf(role: StaffRole) {
  const member = members.get(role);
  if (!member) throw new Error(`no ${role}`);
  return member;
}

/** Where an object of a type is found that a field below a root belongs to. */
const ways: Readonly<Record<string, () => Promise<string>>> = {
  Order: async () => `order(id: "${(await gateway.order()).id}")`,
  AttentionItem: async () => {
    const { id } = await gateway.order();
    await memberOf('admin').data(`mutation { orderHold(orderId: "${id}", reason: "odd") { id } }`);
    return 'attention(limit: 1)';
  },
  Partner: async () => `partner(id: "${(await gateway.partner()).id}")`,
  WebhookEndpoint: async () => {
    const { id, key } = await gateway.partner();
    const body = { url: 'https://hooks.example.com/' };
    await gateway.call('POST', '/partner/webhook-endpoints', { key, body });
    return `webhookEndpoints(partnerId: "${id}")`;
  },
};

const roots = rootFields(schema);
const nested = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type) && !type.name.startsWith('__') && !roots.some((root) => root.type === type))
  .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
  .filter(({ field }) => permissionOf(field) !== null);

describe('each field of the roots', () => {
  it('carries a permission that exists, and says so', () => {
    expect(roots.length).toBeGreaterThan(40);
    for (const { type, field } of roots) {
      const permission = permissionOf(field);
      expect({ field: `${type.name}.${field.name}`, known: permission !== null && permission in permissions }).toEqual({
        field: `${type.name}.${field.name}`,
        known: true,
      });
      expect(field.description).toContain(`\`${permission}\``);
    }
  });

  it('must carry one, or the gateway does not start', () => {
    const open = buildSchema('type Query { open: String }');
    expect(() => documentPermissions(open)).toThrow('Query.open carries no permission');
  });

  it('and each type, field, argument and value is documented', () => {
    const roots = ['Query', 'Mutation', 'Subscription'];
    const silent: string[] = [];
    const hear = (name: string, description: string | null | undefined): void => {
      if (!description) silent.push(name);
    };
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.name.startsWith('__')) continue;
      if (!roots.includes(type.name)) hear(type.name, type.description);
      if (isEnumType(type))
        for (const { name, description } of type.getValues()) hear(`${type.name}.${name}`, description);
      if (isInputObjectType(type)) {
        for (const { name, description } of Object.values(type.getFields())) hear(`${type.name}.${name}`, description);
      }
      if (!isObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        hear(`${type.name}.${field.name}`, field.description);
        for (const arg of field.args) hear(`${type.name}.${field.name}(${arg.name})`, arg.description);
      }
    }
    expect(silent).toEqual([]);
  });

  const asked = roots.filter(({ operation }) => operation !== 'subscription');
  it.each(
    staffRoles.flatMap((role) => asked.map((root) => [role, `${root.operation} ${root.field.name}`, root] as const)),
  )('as %s: %s', async (role, _name, { operation, field }) => {
    const permission = permissionOf(field);
    const { errors, data } = await memberOf(role).ask(`${operation} { ${selectionOf(field)} }`);
    const isRefused = errors.some(({ extensions }) => extensions.kind === 'insufficient_role');
    expect(isRefused).toBe(permission === null || !isPermitted(role, permission));
    if (isRefused) expect(data).toBeNull();
    expect(errors.filter(({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR')).toEqual([]);
  });

  it('refuses requests without a valid token', async () => {
    for (const token of [null, 'xs_nonsense', 'xs_AAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA']) {
      const ask = staffClient(gateway.app.internalUrl, token);
      for (const { operation, field } of asked) {
        const { status, data, errors } = await ask(`${operation} { ${selectionOf(field)} }`);
        expect({ status, data, code: errors[0]?.extensions.code }).toEqual({
          status: 401,
          data: null,
          code: 'UNAUTHENTICATED',
        });
      }
      expect((await ask('{ __schema { types { name } } }')).status).toBe(401);
    }
  });
});

describe('each field below them that carries a permission', () => {
  it.each(
    staffRoles.flatMap((role) => nested.map((one) => [role, `${one.type.name}.${one.field.name}`, one] as const)),
  )('as %s: %s', async (role, _name, { type, field }) => {
    const way = await ways[type.name]?.();
    const { errors } = await memberOf(role).ask(`{ ${way} { ${selectionOf(field)} } }`);
    const permission = permissionOf(field);
    const isRefused = errors.some(({ extensions }) => extensions.kind === 'insufficient_role');
    expect(isRefused).toBe(permission === null || !isPermitted(role, permission));
    expect(errors.length).toBe(isRefused ? 1 : 0);
  });
});
