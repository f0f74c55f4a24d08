import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type MemberOperation, operationRows } from '../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../src/app/services.ts';
import { readCabinetContract } from '../../src/surfaces/rest/cabinet/contract.ts';
import {
  CabinetClient,
  cabinetOrigin,
  cabinetSettings,
  inContract,
  requestDigest,
  tokenOf,
} from '../support/cabinet/cabinet-client.ts';
import { query } from '../support/database/database.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { ContractExamples, type Example } from '../support/http/contract-examples.ts';

/**
 * The examples of cabinet-openapi.yaml. Each one fits its schema. Each request is sent, and the
 * client of the tests checks that the answer is as the contract says.
 */

const contract = readCabinetContract();
const examples = new ContractExamples(contract);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(contract as object, 'cabinet');

/** What is wrong with the examples of a body or of an answer. A part without any has one fault. */
function faultsOf(part: ReturnType<ContractExamples['jsonOf']>): string[] {
  const values = examples.examplesOf(part ?? {});
  if (values.length === 0) return ['it has no example'];
  const validate = ajv.compile(inContract('cabinet', part?.schema ?? {}) as object);
  return values.flatMap((value) => (validate(value) ? [] : [ajv.errorsText(validate.errors)]));
}

it('each request body has examples, and they fit', () => {
  const bodies = examples.operations.filter(({ requestBody }) => requestBody);
  expect(bodies.length).toBeGreaterThan(10);
  for (const { operationId, requestBody } of bodies) {
    expect([operationId, faultsOf(examples.jsonOf(requestBody))]).toEqual([operationId, []]);
  }
});

it('each answer has examples, and they fit', () => {
  for (const { operationId, responses } of examples.operations) {
    for (const [status, answer] of Object.entries(responses)) {
      const contents = Object.values(examples.resolve(answer)?.content ?? {});
      expect([operationId, status, contents.length]).toEqual([operationId, status, status === '204' ? 0 : 1]);
      for (const content of contents)
        expect([operationId, status, faultsOf(content)]).toEqual([operationId, status, []]);
    }
  }
});

const clock = new TestClock();
let gateway: TestGateway;
let partnerId: string;
beforeAll(async () => {
  gateway = await startGateway({
    settings: { ...cabinetSettings, RATE_LIMIT_SIGN_IN_PER_MIN: '100000' },
    outside: { clock },
  });
  ({ id: partnerId } = await gateway.partner());
});
afterAll(() => gateway?.stop());

async function invitation(name = 'Ada'): Promise<string> {
  const { members } = cabinetPeople(gateway.app.orm, clock, cabinetOrigin);
  return (await members.invite(partnerId, { name, role: 'owner' }, null)).link;
}

async function signedIn(): Promise<CabinetClient> {
  const client = new CabinetClient(gateway.app.restUrl ?? '');
  expect((await client.accept(await invitation())).status).toBe(200);
  return client;
}

/** The ids of a path, each of something that was made just now. */
const made: Readonly<Record<string, (client: CabinetClient) => Promise<string>>> = {
  key_id: async (client) => {
    const body = { label: 'Key', scopes: ['orders:read'] };
    return (await client.sure('issueKey', 'POST', '/keys', body)).json.key.key_id;
  },
  member_id: async () => {
    const other = await signedIn();
    return (await other.done('GET', '/session')).member.id;
  },
};

/** The members of a body that only this moment knows: answers of devices, and tokens. */
async function ofThisMoment(id: string, client: CabinetClient): Promise<Record<string, unknown>> {
  const optionsOf = async (from: string, body?: unknown) =>
    (await client.done('POST', from, body === undefined ? {} : { body })).options;
  switch (id) {
    case 'signIn':
      return { credential: client.passkey.use(await optionsOf('/sign-in/options')) };
    case 'confirm':
      return {
        credential: client.passkey.use(
          await optionsOf('/confirmations/options', {
            operation: 'issueKey',
            request_digest: requestDigest('POST', '/keys'),
          }),
        ),
      };
    case 'addPasskey':
      return { credential: new CabinetClient('').passkey.register(await optionsOf('/passkeys/options')) };
    case 'openInvitation':
      return { token: tokenOf(await invitation()) };
    case 'acceptInvitation': {
      const token = tokenOf(await invitation());
      const device = new CabinetClient('').passkey;
      return { token, credential: device.register(await optionsOf('/invitations/open', { token })) };
    }
    default:
      return {};
  }
}

const bodies = examples.bodies().map((example) => [example.id, example.title, example] as const);

it.each(bodies)('%s takes its example %s', async (id, _title, { method, path, value }: Example) => {
  const client = await signedIn();
  // As if the member's passkey were older than the seven days in which no address can be requested.
  await query(gateway.databaseUrl, 'update partner_member set linked_by_staff_at = null');
  const [name] = /(?<=\{)\w+(?=\})/.exec(path) ?? [];
  const target = name === undefined ? path : path.replace(`{${name}}`, (await made[name]?.(client)) ?? '');
  const present = await ofThisMoment(id, client);
  const known = Object.fromEntries(Object.entries(present).filter(([member]) => member in (value as object)));
  const body = { ...(value as object), ...known };
  const headers = operationRows[id as MemberOperation].isConfirmed
    ? await client.confirmed(id as MemberOperation, method, target, body)
    : {};
  const { status, text } = await client.call(method, target, { headers, body });
  expect([status, text]).toEqual([200, expect.anything()]);
  await query(gateway.databaseUrl, 'update api_key set revoked_at = $1 where label <> $2', [clock.now(), '']);
});
