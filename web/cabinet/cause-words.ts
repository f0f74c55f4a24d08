import { words } from '../ui/format.ts';

/** What each cause of a move means to a partner. It tells nothing of how the gateway works. */
const causes: Readonly<Record<string, string>> = {
  deposit_seen: 'A deposit was seen',
  deposit_confirmed: 'The deposit has its confirmations',
  deposit_lost: 'The network dropped the deposit',
  deposit_lost_late: 'The network dropped the deposit, and the time to pay is over',
  window_passed: 'No deposit came in time',
  partner_cancelled: 'You cancelled it',
  below_minimum: 'The deposit is below the smallest amount',
  rate_expired: 'The deposit came after its fixed rate had ended',
  underpaid: 'Less than expected arrived',
  overpaid: 'More than expected arrived',
  price_moved: 'The payout would be below the smallest that the order accepts',
  exchange_below_min: 'The payout would be below the smallest that the order accepts',
  late_deposit: 'The deposit came too late',
  late_accepted: 'The late deposit is exchanged at the market, as you agreed',
  exchange_deadline: 'It could not be exchanged at a fair price in time',
  liquidity_bought: 'The exchange is done',
  payout_confirmed: 'The payout is confirmed',
  payout_failed: 'The payout did not succeed',
  payout_unknown: 'It is not known whether the payout arrived',
  refund_confirmed: 'The refund is confirmed',
  no_refund_address: 'The order has no refund address',
  refund_below_fee: 'The deposit does not cover the network fee of a refund',
  refund_needs_approval: 'Our team checks the refund address first',
  refund_failed: 'The refund did not succeed',
  refund_resumed: 'The refund address was set',
  staff_stopped: 'Our team stopped the payout',
  staff_failed: 'Our team stopped the refund',
  staff_refund: 'Our team refunds the deposit',
  staff_retry: 'Our team sends the payout again',
  refund_address_set: 'Refund address set',
  action_required: 'You are asked what to do with the deposit',
  deposit_added: 'A further deposit was seen',
  small_deposit: 'A deposit that is too small, or in another currency, was seen',
  extra_refund_decided: 'A deposit, or a part of it, is sent back',
  extra_refund_confirmed: 'What was sent back is confirmed',
  extra_refund_failed: 'Sending back did not succeed',
  held: 'Our team checks the order first',
  released: 'The check of the order ended',
  action_resolved: 'The question about the deposit has ended',
};

/** A cause of an order's history, in words. */
export function causeWords(cause: string): string {
  return causes[cause] ?? words(cause);
}

const operations: Readonly<Record<string, string>> = {
  acceptInvitation: 'Accepted an invitation',
  addPasskey: 'Added a passkey',
  removePasskey: 'Removed a passkey',
  invite: 'Invited a person',
  withdrawInvitation: 'Withdrew an invitation',
  changeMember: 'Changed a role',
  removeMember: 'Removed a member',
  recoverMember: 'Made a recovery link',
  issueKey: 'Made a key',
  rollKey: 'Rolled a key',
  revokeKey: 'Revoked a key',
  setKeyNetworks: 'Set the IP addresses of a key',
  createWebhook: 'Added a webhook endpoint',
  changeWebhook: 'Changed a webhook endpoint',
  deleteWebhook: 'Removed a webhook endpoint',
  rotateWebhookSecret: 'Made a new signing secret',
  testWebhook: 'Tested a webhook endpoint',
  replayWebhook: 'Replayed webhook events',
  setCommissionAddress: 'Requested an address for commission',
  cancelCommissionAddress: 'Cancelled an address for commission',
  answerOrder: 'Answered what to do with a deposit',
};

/** An entry of the audit log, in words. */
export function operationWords(operation: string): string {
  return operations[operation] ?? words(operation.replaceAll(/([A-Z])/g, ' $1'));
}

/**
 * What an entry of the audit log is about: '<kind>:<id>' in words. Null where the entry's own words
 * say enough.
 *
 * @param names The members' names by their ids.
 */
export function targetWords(target: string, names: ReadonlyMap<string, string>): string | null {
  const [kind = '', id = ''] = target.split(':');
  if (kind === 'member') return names.get(id) ?? 'a former member';
  if (kind === 'key') return id;
  return null;
}
