// What the arithmetic of a request costs: quotes, address checks, derivation of addresses, keys and
// ids. Microseconds a call, and next to them how many SHA-256 of 1 KiB take as long, which compares
// between machines and busy hours. The cases take turns; each shows its best turn.
// Usage: npm run bench -- arithmetic --help
import { createHash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { HDKey } from '@scure/bip32';
import { v7 as uuidv7 } from 'uuid';
import { generateKey, KeyHasher, parseKey } from '../../src/accounts/partners/secret-key.ts';
import { Big } from '../../src/base/money.ts';
import { addressExample, checkAddress } from '../../src/chains/addresses/address.ts';
import { deriveDepositAddress } from '../../src/chains/addresses/deposit-address.ts';
import { allNetworks, networkById } from '../../src/chains/networks/networks.ts';
import { pairLimits, quoteTerms } from '../../src/market/rates/quote.ts';
import { SandboxPriceSource } from '../../src/market/rates/sources/sandbox-price-source.ts';
import { wholeNumber } from '../support/command-line.ts';
import { bindingQuotes, quoteRequest, quotingPartner } from '../support/gateway/binding-quotes.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { quotingRates } from '../support/gateway/rates.ts';

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '100' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench -- arithmetic [options]

  --turns <n>  turns of each case (100)
`);
  process.exit(0);
}
const turns = wholeNumber(values, 'turns');
/**
 * How long one turn of a case lasts, about: shorter than what the system gives to others in
 * between.
 */
const turnMs = 1;

const yardstick = 'sha256 of 1 KiB';
const kibibyte = randomBytes(1024);
const cases = new Map<string, () => unknown>([[yardstick, () => createHash('sha256').update(kibibyte).digest()]]);

const root = HDKey.fromMasterSeed(new Uint8Array(32).fill(7));
for (const id of ['BTC', 'BCH', 'ERC20', 'TRC20']) {
  const xpub = root.derive(networkById(id)?.accountPath ?? '').publicExtendedKey;
  let index = 0;
  cases.set(`deriveDepositAddress ${id}`, () => deriveDepositAddress(id, xpub, index++));
}

const { rates } = await quotingRates({
  // Time stands still, lest the prices grow old.
  clock: new TestClock(),
  source: new SandboxPriceSource(new TestClock(), 'bench'),
});
const pricing = { float: '0.005', fixed: '0.01' };
const pair = { coinFrom: 'BTC', networkFrom: undefined, coinTo: 'USDT', networkTo: 'ERC20' };
const others = [
  { coinFrom: 'ETH', networkFrom: 'ETH', coinTo: 'LTC', networkTo: undefined },
  { coinFrom: 'LTC', networkFrom: undefined, coinTo: 'BTC', networkTo: undefined },
  { coinFrom: 'USDT', networkFrom: 'TRC20', coinTo: 'ETH', networkTo: 'ETH' },
];
const amount = new Big('0.12345678');
cases.set('quote float', () => rates.quote({ ...pair, rateType: 'float' }, amount, pricing, 'amount'));
cases.set('quote fixed', () => rates.quote({ ...pair, rateType: 'fixed' }, amount, pricing, 'amount'));
let turn = 0;
cases.set('quote float of the minimum, pairs in turn', () => {
  const other = others[turn++ % others.length] ?? pair;
  return rates.quote({ ...other, rateType: 'float' }, null, pricing, 'amount');
});
const { quotes } = await bindingQuotes();
for (const side of ['from', 'to'] as const) {
  const asked = quoteRequest({ side, amount: new Big(side === 'from' ? '0.12345678' : '250') });
  cases.set(`binding quote, amount_${side}`, () => quotes.quote(asked, quotingPartner));
}
const { id: quoteId } = quotes.quote(quoteRequest(), quotingPartner);
cases.set('binding quote opened', () => quotes.open(quoteId, quotingPartner.id));
cases.set('pair', () => rates.sides({ ...pair, rateType: 'float' }, []));
const { from, to } = rates.quote({ ...pair, rateType: 'float' }, amount, pricing, 'amount');
const prices = { from: new Big('64012.37'), to: new Big('1.0003') };
const feeRate = new Big('0.005');
cases.set('pairLimits', () => pairLimits(from, to, prices, feeRate));
cases.set('quoteTerms', () => quoteTerms(amount, prices, to, feeRate));

const families = Map.groupBy(allNetworks(), ({ family }) => family);
for (const [family, [network]] of families) {
  if (!network) continue;
  const address = addressExample(network.id);
  cases.set(`checkAddress ${family}`, () => checkAddress(network.id, address, null));
}
cases.set('checkAddress bitcoin, base58', () => checkAddress('BTC', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', null));

const hasher = new KeyHasher([{ version: 1, secret: 'p'.repeat(32) }]);
const key = generateKey('xp_test_');
const stored = hasher.hash(key);
cases.set('KeyHasher.matches', () => hasher.matches(key, stored));
cases.set('KeyHasher.matches, unknown', () => hasher.matches(key, null));
cases.set('parseKey', () => parseKey(key.whole));
cases.set('uuidv7', () => uuidv7());

/** Microseconds a call, over this many calls one after the other. */
async function measure(run: () => unknown, calls: number): Promise<number> {
  const startNs = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  return Number(process.hrtime.bigint() - startNs) / 1000 / calls;
}

const measured: { name: string; run: () => unknown; calls: number; bestUs: number }[] = [];
for (const [name, run] of cases) {
  await measure(run, 200);
  const calls = Math.max(5, Math.round((turnMs * 1000) / (await measure(run, 20))));
  measured.push({ name, run, calls, bestUs: Number.POSITIVE_INFINITY });
}
for (let i = 0; i < turns; i++) {
  for (const one of measured) one.bestUs = Math.min(one.bestUs, await measure(one.run, one.calls));
}
const unitUs = measured.find(({ name }) => name === yardstick)?.bestUs ?? 1;
for (const { name, bestUs } of measured) {
  process.stdout.write(
    `${name.padEnd(44)} ${bestUs.toFixed(2).padStart(9)} µs ${(bestUs / unitUs).toFixed(2).padStart(8)} ×\n`,
  );
}
