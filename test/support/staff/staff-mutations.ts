import { addressExample } from '../../../src/chains/addresses/address.ts';
import { failedOrder, type SettledGateway } from '../gateway/settled-gateway.ts';
import { StaffBrowser } from './staff-browser.ts';
import { type Member, newMember } from './staff-client.ts';
import type { StaffStates } from './staff-states.ts';

/** Makes the arguments of a mutation, with everything that it needs to succeed. */
export type MutationArguments = () => Promise<string>;

export interface MutationActors {
  readonly gateway: SettledGateway;
  /** The member who will send the mutations, and owns what only its own member may change. */
  readonly actor: Member;
  /** An admin who proposes what the actor decides. */
  readonly other: Member;
  /** States that the other admin makes. */
  readonly states: StaffStates;
}

/** How many were invited in each gateway, so that addresses do not depend on other tests. */
const invited = new WeakMap<SettledGateway, number>();

function newcomer(gateway: SettledGateway): string {
  const number = (invited.get(gateway) ?? 0) + 1;
  invited.set(gateway, number);
  return `new${number}@example.com`;
}

/** Arguments with which each mutation of the staff API succeeds, by the mutation's name. */
export function staffMutations({ gateway, actor, other, states }: MutationActors): Record<string, MutationArguments> {
  const memberId = async (): Promise<string> => (await newMember(gateway, 'viewer')).id;
  /** A browser in which the actor signs in. */
  const sessionId = async (): Promise<string> => {
    await new StaffBrowser(gateway.app.internalUrl).post('/sign-in', { token: actor.token });
    return (await actor.data('{ sessions { id } }')).sessions[0].id;
  };
  const keyId = async (): Promise<string> => (await gateway.partner()).keyId;
  /** Arguments that set a coin's price in bitcoin to the market's. */
  const override = async (coinFrom: string): Promise<string> => {
    const { quote } = await other.data(
      `{ quote(input: { coinFrom: "${coinFrom}", networkFrom: "${coinFrom}", coinTo: "BTC" }) { rate } }`,
    );
    const endsAt = new Date(gateway.clock.now().getTime() + 600_000).toISOString();
    const input = `{ coinFrom: "${coinFrom}", coinTo: "BTC", price: "${quote.rate}", endsAt: "${endsAt}" }`;
    return `(input: ${input}, reason: "x")`;
  };
  return {
    actionApprove: async () => `(id: "${await states.proposedRelease()}", reason: "x")`,
    actionReject: async () => `(id: "${await states.proposedRelease()}", reason: "x")`,
    attentionHandOver: async () =>
      `(itemId: "held_order:${(await states.heldOrder()).id}", to: "${(await newMember(gateway, 'support')).id}", reason: "x")`,
    attentionRelease: async () => {
      const itemId = `held_order:${(await states.heldOrder()).id}`;
      await actor.data(`mutation { attentionTake(itemId: "${itemId}") { id } }`);
      return `(itemId: "${itemId}")`;
    },
    attentionTake: async () => `(itemId: "held_order:${(await states.heldOrder()).id}")`,
    commissionAddressSet: async () =>
      `(input: { partnerId: "${await states.partnerId()}", coin: "BTC", network: "BTC", address: "${addressExample('BTC')}" }, reason: "x")`,
    commissionCancel: () => states.payableMonth(),
    commissionCorrect: async () =>
      `(input: { partnerId: "${await states.partnerId()}", coin: "BTC", network: "BTC", amount: "-0.1" }, reason: "x")`,
    commissionHold: () => states.payableMonth(),
    commissionPay: () => states.payableMonth(),
    commissionRelease: async () => {
      const month = await states.payableMonth();
      await states.made(`commissionHold${month}`);
      return month;
    },
    currencySwitch: async () => '(coin: "XMR", network: "XMR", switches: { isDepositEnabled: false }, reason: "x")',
    currencyTerms: async () => '(coin: "XMR", network: "XMR", terms: { minConfirmations: 9 }, reason: "x")',
    depositAssign: async () => {
      const { orderId, depositId } = await states.untaggedDeposit();
      return `(input: { orderId: "${orderId}", depositId: "${depositId}", evidence: "signed" }, reason: "x")`;
    },
    invitationWithdraw: async () => `(id: "${(await states.partnerInvitation()).invitationId}", reason: "x")`,
    keyChange: async () => `(keyId: "${await keyId()}", key: { label: "web" }, reason: "x")`,
    keyIssue: async () => `(partnerId: "${await states.partnerId()}", reason: "x")`,
    keyRevoke: async () => `(keyId: "${await keyId()}", reason: "x")`,
    keyRoll: async () => `(keyId: "${await keyId()}", hours: 1, reason: "x")`,
    memberInvite: async () => `(partnerId: "${await states.partnerId()}", name: "Ada", role: OWNER, reason: "x")`,
    memberRecover: async () => `(memberId: "${(await states.partnerMember()).memberId}", reason: "x")`,
    orderHold: async () => `(orderId: "${(await gateway.order()).id}", reason: "x")`,
    orderMarkFailed: async () => `(orderId: "${(await states.heldBackOrder()).id}", reason: "x")`,
    orderNote: async () => `(orderId: "${(await gateway.order()).id}", text: "called the partner")`,
    orderPageRenew: async () => `(orderId: "${(await states.orderWithPage()).id}", reason: "x")`,
    orderPageRevoke: async () => `(orderId: "${(await gateway.order()).id}", reason: "x")`,
    orderRefund: async () => {
      const { id } = await failedOrder(gateway);
      return `(input: { orderId: "${id}", address: "${addressExample('BTC')}" }, reason: "x")`;
    },
    orderRelease: async () => `(orderId: "${(await states.heldOrder()).id}", reason: "x")`,
    orderRetryPayout: async () => `(orderId: "${(await states.unpaidOrder()).id}", reason: "x")`,
    orderViewRemove: async () => {
      const { made } = await actor.data('mutation { made: orderViewSave(name: "gone", query: "held=1") { id } }');
      return `(id: "${made.id}")`;
    },
    orderViewSave: async () => '(name: "BTC", query: "coin=BTC")',
    orderVenuePrice: async () =>
      `(orderId: "${(await states.leaveUnsold(await gateway.order())).id}", price: "80", reason: "x")`,
    partnerCreate: async () => '(name: "Shop", reason: "x")',
    partnerChange: async () => `(id: "${await states.partnerId()}", changes: { name: "Big Shop" }, reason: "x")`,
    payoutResume: async () => {
      const id = await states.made('payoutStop(coin: "DOGE", network: "DOGE", reason: "x")');
      return `(holdId: "${id}", acknowledge: false, reason: "x")`;
    },
    payoutStop: async () => '(coin: "ZEC", network: "ZEC", reason: "x")',
    priceOverride: () => override('LTC'),
    priceOverrideEnd: async () => {
      await other.data(`mutation { priceOverride${await override('DASH')} { price } }`);
      return '(coinFrom: "DASH", coinTo: "BTC", reason: "x")';
    },
    sessionEnd: async () => `(id: "${await sessionId()}", reason: "x")`,
    staffChangeApprove: async () => `(id: "${await states.proposedRole()}", reason: "x")`,
    staffChangeReject: async () => `(id: "${await states.proposedRole()}", reason: "x")`,
    staffInvite: async () => `(email: "${newcomer(gateway)}", role: SUPPORT, reason: "x")`,
    staffRevoke: async () => `(id: "${await memberId()}", reason: "x")`,
    staffRole: async () => `(id: "${await memberId()}", role: SUPPORT, reason: "x")`,
    staffToken: async () => `(id: "${await memberId()}", reason: "x")`,
    treasuryClassify: async () =>
      `(venue: "${await states.venueAccount()}", kind: DEPOSIT, reference: "D1", class: CAPITAL, reason: "x")`,
    venueOpeningPropose: async () => `(venue: "${await states.venueAccount()}", reason: "x")`,
    webhookChange: async () => `(id: "${await states.webhookId()}", endpoint: { status: DISABLED }, reason: "x")`,
    webhookCreate: async () =>
      `(partnerId: "${await states.partnerId()}", endpoint: { url: "https://hooks.example.com/" }, reason: "x")`,
    webhookDelete: async () => `(id: "${await states.webhookId()}", reason: "x")`,
    webhookRotateSecret: async () => `(id: "${await states.webhookId()}", reason: "x")`,
    webhookReplay: async () => {
      const { webhookId, eventId } = await states.deliveredEvent();
      return `(id: "${webhookId}", eventIds: ["${eventId}"], reason: "x")`;
    },
    webhookTest: async () => `(id: "${await states.webhookId()}", reason: "x")`,
  };
}
