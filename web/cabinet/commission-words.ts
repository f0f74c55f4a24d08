import type { Tone } from '../ui/parts.tsx';
import type { PartnerSchemas } from './api.ts';

type Statement = PartnerSchemas['Statement'];

const names = 'January February March April May June July August September October November December'.split(' ');

/** '2026-11' as 'November 2026'. */
export function monthName(month: string): string {
  return `${names[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;
}

/** 'USDC on ERC20', and 'BTC' where the network has the same name. */
export function assetName({ coin, network }: { readonly coin: string; readonly network: string }): string {
  return coin === network ? coin : `${coin} on ${network}`;
}

const problems: Readonly<Record<NonNullable<Statement['problem']>, (asset: string) => string>> = {
  held: () => 'Our team checks it before it is paid. You need not do anything.',
  partner_inactive: () => 'Your account is switched off. Our team decides about the payment.',
  payment_failed: () => 'Three payments did not succeed. Our team decides how it goes on.',
  no_asset: (asset) => `${asset} is switched off. It is paid once it is on again, and never in another asset.`,
  no_address: (asset) => `No address for ${asset} is in effect. It is paid once one has taken effect.`,
  address_lost: () => 'You have lost the old address. It is paid once the new one has taken effect.',
  below_fee: () => 'The network fee is higher than what is due. It is paid once the fee is lower.',
  payment_dead: () => 'The last payment did not succeed. The next one follows within an hour.',
  not_covered: () => 'A correction has made the balance smaller. It is paid once the balance covers it again.',
};

/** Problems that an owner ends by setting an address. */
const asksForAddress: ReadonlySet<Statement['problem']> = new Set(['no_address', 'address_lost']);

/** How a month stands: a tone, a label, and a sentence where one is needed. */
export function monthState(of: Statement, minUsd: string): readonly [tone: Tone, label: string, text: string] {
  const { state, problem, payment } = of;
  if (state === 'open')
    return ['info', 'Open', 'Entries are still added. It is closed soon after the month has ended.'];
  if (state === 'closed') return ['plain', 'Closed', 'Nothing is due for it.'];
  if (state === 'paid') return ['good', 'Paid', ''];
  if (state === 'rolled') {
    const bound = `It is below the minimum of $${minUsd}, or not above the network fee.`;
    return ['idle', 'Carried over', `${bound} It counts in the next month.`];
  }
  if (payment !== null) return ['accent', 'In payment', 'Its payment is under way. Payouts to users go first.'];
  if (problem === null) return ['accent', 'To be paid', 'Its payment begins within a few minutes.'];
  const label = problem === 'held' ? 'Held' : 'Waits';
  return [asksForAddress.has(problem) ? 'bad' : 'warn', label, problems[problem](assetName(of))];
}
