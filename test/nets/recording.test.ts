import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { sharedOperations } from '../../src/accounts/members/rights.ts';
import { rootFields } from '../support/http/schema-walk.ts';
import { ownerOf, recordCabinet, recordCabinetOrder } from './recording/cabinet.ts';
import { recordFourEndpoints } from './recording/four-endpoints.ts';
import { recordPage, recordPageFiles } from './recording/order-pages.ts';
import { operationIds, recordOrder, recordPartnerApi } from './recording/partner-api.ts';
import { isRenewing, Recording } from './recording/recording.ts';
import {
  recordMutations,
  recordQueries,
  recordRefusals,
  recordSettings,
  recordStaffOrder,
  recordSubscriptions,
  StaffRecorder,
} from './recording/staff.ts';
import { recordDeliveries, recordSamples, subscribers } from './recording/webhook-deliveries.ts';
import { startWorld, type World } from './recording/world.ts';

// What every surface answers about one seeded world, byte for byte: docs/testing.md.

const surfaces = ['four-endpoints', 'partner-api', 'order-pages', 'webhooks', 'cabinet', 'staff'] as const;
type Surface = (typeof surfaces)[number];

/** A bound for what hangs. A quiet machine takes about a minute. */
const worldMs = 1_800_000;

let world: World;
let staff: StaffRecorder;
let recordings: Readonly<Record<Surface, Recording>>;

const contract = parse(readFileSync('openapi.yaml', 'utf8')) as {
  components: { schemas: Record<'EventType' | 'PartnerEventType' | 'OrderStatus', { enum: string[] }> };
};
const { EventType, PartnerEventType, OrderStatus } = contract.components.schemas;
const webhookTypes = [...EventType.enum, ...PartnerEventType.enum];

/** Fields of staff that are null or empty in this world. */
const elsewhere: ReadonlySet<string> = new Set([
  // Live networks, their faults, and an exchange.
  ...['Deposit.explorerUrl', 'Payment.explorerUrl', 'ChainPoint.failure', 'ChainStatus.failingSince'],
  ...['ChainStatus.failure', 'ChainStatus.problem', 'VenueHistory.coin', 'VenueHistory.measure'],
  ...['VenueHistory.points', 'VenuePoint.at', 'VenuePoint.highest', 'VenuePoint.last', 'VenuePoint.lowest'],
  ...['VenuePoint.readings', 'OrderQuestion.amountTo', 'Deposit.problem', 'Deposit.tag', 'OrderAction.tag'],
  ...['PaymentAttempt.expiresAt', 'PaymentAttempt.expiresAtHeight'],
  ...['AttentionItem.deposit', 'AttentionItem.partner', 'PayoutLimit.waitingSince', 'WebhookEndpoint.failingSince'],
  ...[
    'TreasuryTransfer.explorerUrl',
    'TreasuryTransfer.arrivals',
    'LedgerBalance.venue',
    'LedgerLine.venue',
    'OrderAction.amount',
    'OrderAction.coin',
  ],
  // Months that were closed and paid, addresses and corrections: test/integration/commission.
  ...[
    'requestedBy',
    'tookEffectAt',
    'requestedAt',
    'oldIsLost',
    'network',
    'effectiveAt',
    'coin',
    'address',
    'id',
    'tag',
  ].map((name) => `CommissionAddress.${name}`),
  ...['approvedAt', 'closedAt', 'due', 'heldAt', 'holdReason', 'paidAt', 'payment', 'problem', 'sha256'].map(
    (name) => `CommissionMonth.${name}`,
  ),
  ...['corrects', 'order', 'payment', 'reason', 'fromAmount', 'fromCoin', 'fromNetwork', 'fromPrice', 'price'].map(
    (name) => `CommissionEntry.${name}`,
  ),
  ...['OrderAction.corrects', 'PartnerCommission.addresses'],
  // Members who may not approve yet, because their role is new.
  ...['OrderAction.approvableFrom', 'StaffChange.approvableFrom'],
  // A deposit without an order, which only `depositAssign` makes.
  ...['DepositConnection.edges', 'DepositEdge.cursor', 'DepositEdge.node'],
  // Results of days, and what is written or read from time to time.
  ...['FixedResult.adverseBps', 'Partner.quoteAdverseBps', 'Partner.quoteCutSince', 'ApiKey.lastUsedAt'],
  ...['StatisticsStatus.behindSince', 'WebhookDelivery.nextAttemptAt'],
  // Acts by command, ended holds, and members who left.
  ...['AuditEntry.operator', 'PayoutHold.closedAt', 'PayoutHold.closedBy', 'StaffMember.revokedAt'],
  ...['OrderChange.fromStatus', 'PartnerInvitation.invitedBy'],
]);

beforeAll(async () => {
  // Refused before the work where it is not allowed.
  if (isRenewing()) process.stderr.write('\nthe recording is written again\n');
  world = await startWorld();
  recordings = Object.fromEntries(surfaces.map((name) => [name, new Recording(name, world.names)])) as Record<
    Surface,
    Recording
  >;
  staff = await StaffRecorder.start(recordings.staff, world);
  const owner = await ownerOf(recordings.cabinet, world, staff.admin);
  const [inStrings, ...others] = await subscribers(world);
  if (!inStrings) throw new Error('there is no endpoint');
  await world.reach(async (name, order) => {
    await recordPage(recordings['order-pages'], world, name, order);
    await recordOrder(recordings['partner-api'], world, name, order);
    await recordCabinetOrder(owner, name, order);
    await recordStaffOrder(staff, name, order);
  });
  await recordDeliveries(recordings.webhooks, world, [inStrings, ...others]);
  await recordPageFiles(recordings['order-pages'], world);
  await world.report();
  await recordPartnerApi(recordings['partner-api'], world);
  await recordSamples(recordings.webhooks, world, { types: webhookTypes, subscriber: inStrings });
  await world.report();
  await recordCabinet(recordings.cabinet, world, { owner, admin: staff.admin });
  await world.report();
  await recordSettings(staff, world);
  await recordQueries(staff, world);
  await recordMutations(staff, world);
  await recordRefusals(staff, world);
  await recordSubscriptions(staff, world);
  await recordFourEndpoints(recordings['four-endpoints']);
}, worldMs);
afterAll(() => world?.stop());

describe('there is a recording of', () => {
  const missing = (surface: Surface, names: readonly string[]): string[] =>
    names.filter((name) => !recordings[surface].called.has(name));

  it('each operation of the partner API', () => {
    const ids = operationIds('openapi.yaml');
    expect(ids.length).toBeGreaterThan(30);
    expect(missing('partner-api', ids)).toEqual([]);
  });

  it('each operation of the cabinet', () => {
    const ids = [...operationIds('cabinet-openapi.yaml'), ...sharedOperations];
    expect(ids.length).toBeGreaterThan(30);
    expect(missing('cabinet', ids)).toEqual([]);
  });

  it('each query, mutation and subscription of staff', () => {
    const fields = rootFields(staff.schema).map(({ field }) => field.name);
    expect(fields.length).toBeGreaterThan(70);
    expect(missing('staff', fields)).toEqual([]);
  });

  it('each field of the staff schema', () => {
    expect(staff.unasked).toEqual([]);
  });

  it('a value of each field of the staff schema, except fields that only other worlds have', () => {
    expect(staff.unanswered.filter((name) => !elsewhere.has(name))).toEqual([]);
  });

  it('each type of webhook', () => {
    expect(missing('webhooks', [...webhookTypes, 'endpoint.test'])).toEqual([]);
  });

  it('the page of an order in each status', () => {
    expect(missing('order-pages', OrderStatus.enum)).toEqual([]);
  });
});

it.each(surfaces)('the answers of %s are those of the recording', (surface) => {
  expect(recordings[surface].differences().join('\n')).toBe('');
});
