import { ExchangeUnavailable, mostMovements } from '../../../src/exchanges/exchange.ts';
import type { ExchangeProcess } from '../../../src/exchanges/exchange-process.ts';
import { FundingAccount } from '../../../src/exchanges/funding-account.ts';

function accountThatAnswers(answer: unknown, asked: unknown[] = []): FundingAccount {
  const ask = async (...question: unknown[]) => {
    asked.push(question);
    return answer;
  };
  return new FundingAccount('kraken', { ask } as unknown as ExchangeProcess);
}

const withdrawal = {
  kind: 'withdrawal',
  reference: 'AGBSO6T',
  coin: 'XRP',
  network: 'XRP',
  txid: '19A5',
  isInternal: false,
  address: 'r3T75',
  tag: '101286922',
  amount: '29.00',
  fee: '0.25',
  state: 'done',
  told: '6',
  atMs: 1_618_488_556_000,
};
const holding = { coin: 'BTC', total: '2.50', free: '1' };

describe('FundingAccount', () => {
  it('returns checked movements, in the form of decimals that is stored', async () => {
    const asked: unknown[] = [];
    const found = await accountThatAnswers([withdrawal], asked).movements('withdrawal', 1_000.7);
    expect(found).toEqual([{ ...withdrawal, amount: '29' }]);
    expect(asked).toEqual([['kraken', 'movements', 'withdrawal', 1_000]]);
  });

  it('returns a movement once that a list tells twice, and refuses one reference of two', async () => {
    const other = { ...withdrawal, reference: 'B' };
    const twice = [withdrawal, other, { ...withdrawal, amount: '29.0' }];
    expect(await accountThatAnswers(twice).movements('withdrawal', 0)).toHaveLength(2);
    const changed = [withdrawal, { ...withdrawal, state: 'pending' }];
    await expect(accountThatAnswers(changed).movements('withdrawal', 0)).rejects.toThrow('two withdrawals under one');
  });

  it.each([
    ['of no network, address and tag', { network: null, address: null, tag: null }],
    ['of no transaction yet', { txid: null, state: 'pending' }],
    ['on no chain', { txid: null, isInternal: true }],
    ['without a fee', { fee: '0' }],
    ['of a state that is not known', { state: 'unknown', told: 'Partial' }],
    ['of an exchange whose clock is ahead by less than a day', { atMs: Date.now() + 86_000_000 }],
  ])('accepts a withdrawal %s', async (_what, changes) => {
    expect(await accountThatAnswers([{ ...withdrawal, ...changes }]).movements('withdrawal', 0)).toHaveLength(1);
  });

  it.each([
    ['of the other kind', { kind: 'deposit' }],
    ['of no kind', { kind: 'transfer' }],
    ['without a reference', { reference: '' }],
    ['with a reference that is no text', { reference: 7 }],
    ['with a reference that is too long', { reference: 'R'.repeat(201) }],
    ['without a coin', { coin: undefined }],
    ['of an empty network', { network: '' }],
    ['of a transaction that is too long', { txid: 'a'.repeat(201) }],
    ['that does not tell its transaction', { txid: undefined }],
    ['of an address that is too long', { address: 'a'.repeat(201) }],
    ['of a tag that moves the cursor of a terminal', { tag: '\u001b[2J' }],
    ['of a tag that turns the text around', { tag: '\u202e7' }],
    ['that does not tell whether it is internal', { isInternal: 'no' }],
    ['on a chain and on none', { isInternal: true }],
    ['of nothing', { amount: '0', fee: '0' }],
    ['of less than nothing', { amount: '-1' }],
    ['of a number', { amount: 29 }],
    ['of an amount that the database rounds', { amount: '0.0000000000000000001' }],
    ['of an amount that is too large', { amount: '100000000000000000000' }],
    ['that earns', { fee: '-0.1' }],
    ['that costs all of it', { fee: '29' }],
    ['that costs more than all of it', { fee: '30' }],
    ['without a fee', { fee: undefined }],
    ['without a state', { state: undefined }],
    ['of a state of ours that is none', { state: 'lost' }],
    ['without a word of the exchange', { told: '' }],
    ['of more than a day ahead', { atMs: Date.now() + 86_500_000 }],
    ['of no time', { atMs: Number.NaN }],
    ['of a time before all', { atMs: 0 }],
    ['of a time between milliseconds', { atMs: 1_618_488_556_000.5 }],
  ])('refuses a withdrawal %s', async (_what, changes) => {
    const account = accountThatAnswers([{ ...withdrawal, ...changes }]);
    await expect(account.movements('withdrawal', 0)).rejects.toBeInstanceOf(ExchangeUnavailable);
  });

  it.each([
    [null],
    [{}],
    ['deposits'],
    [[null]],
    [[7]],
    [Array(mostMovements + 1).fill(withdrawal)],
  ])('refuses a list of movements that is none, or too long', async (answer) => {
    await expect(accountThatAnswers(answer).movements('withdrawal', 0)).rejects.toBeInstanceOf(ExchangeUnavailable);
  });

  it('returns checked holdings', async () => {
    expect(await accountThatAnswers([holding]).holdings()).toEqual([{ coin: 'BTC', total: '2.5', free: '1' }]);
    expect(await accountThatAnswers([]).holdings()).toEqual([]);
  });

  it.each([
    ['of no coin', [{ ...holding, coin: '' }]],
    ['of a coin twice', [holding, holding]],
    ['of nothing', [{ ...holding, total: '0', free: '0' }]],
    ['of less than nothing', [{ ...holding, total: '-1', free: '-2' }]],
    ['of which less than nothing is free', [{ ...holding, free: '-1' }]],
    ['of which more is free than is there', [{ ...holding, free: '2.6' }]],
    ['of a number', [{ ...holding, total: 2.5 }]],
    ['that are no list', { BTC: holding }],
    ['that are too many', Array.from({ length: 5_001 }, (_, index) => ({ ...holding, coin: `C${index}` }))],
  ])('refuses holdings %s', async (_what, answer) => {
    await expect(accountThatAnswers(answer).holdings()).rejects.toBeInstanceOf(ExchangeUnavailable);
  });
});
