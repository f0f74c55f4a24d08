/** What may befall the account at the imitated exchange, by name. */
export const venueFaults = {
  reject_late: 'a withdrawal is accepted, listed, and then refused: its coins come back with the fee',
  return_without_fee: 'as reject_late, and the fee is kept',
  short: 'a withdrawal pays one percent less than it told',
  txid_late: 'a withdrawal tells its txid only after three lists have shown it',
  two_in_one: 'a withdrawal waits for the next one on its chain that has this fault; one transaction pays both',
  replace: 'another txid pays than the one that was told; the fourth list tells it',
  replace_untold: 'another txid pays than the one that was told, and no list ever tells it',
  internal: "a withdrawal ends with the txid 'Internal transfer', and nothing moves on a chain",
  credit_late: 'a deposit stays pending until this fault is lifted',
  credit_locked: 'a deposit is credited and locked until this fault is lifted',
  foreign_withdrawal: 'someone withdraws one percent of a coin to a foreign address',
  list_incomplete: 'a list of deposits or withdrawals leaves out its newest row',
  list_broken: 'a page of a list of deposits or withdrawals after the first is refused',
  freeze: 'signed requests are refused, because the account is frozen',
  key_refused: 'requests with the reading key are refused',
  lost_answer: 'a signed request is done, and its answer is lost',
} as const;

export type VenueFault = keyof typeof venueFaults;

export function isVenueFault(name: string): name is VenueFault {
  return Object.hasOwn(venueFaults, name);
}
