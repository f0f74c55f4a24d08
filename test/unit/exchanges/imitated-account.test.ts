import { Big } from '../../../src/base/money.ts';
import { AccountRefusal, change, takeIn, withdraw } from '../../../src/exchanges/sandbox/account.ts';
import { freshState, keepNewest, mostKept } from '../../../src/exchanges/sandbox/exchange-state.ts';
import { setFault, strike } from '../../../src/exchanges/sandbox/strikes.ts';

const asked = { coin: 'BTC', networkId: 'BTC', network: 'Bitcoin', fee: '0.1', address: 'a', tag: null, atMs: 0 };
const came = { coin: 'BTC', network: 'Bitcoin', address: 'a', tag: null, amount: '2', atMs: 0, txid: 't' };

describe('the account at an imitated exchange', () => {
  it('never has less than nothing, and stays as it was when it refuses', () => {
    const state = { ...freshState(), balances: { BTC: '1' } };
    expect(() => change(state, 'BTC', new Big('-1.1'))).toThrow(AccountRefusal);
    expect(() => withdraw(state, { ...asked, gross: '1.1' })).toThrow('1 BTC only');
    expect(() => withdraw(state, { ...asked, gross: '0.1' })).toThrow('nothing would arrive');
    expect(state).toEqual({ ...freshState(), balances: { BTC: '1' } });
    withdraw(state, { ...asked, gross: '1' });
    expect(state.balances).toEqual({ BTC: '0' });
  });

  it('gives every movement a separate id', () => {
    const state = { ...freshState(), balances: { BTC: '100' } };
    for (let made = 0; made < 20; made += 1) {
      withdraw(state, { ...asked, gross: '1' });
      takeIn(state, { ...came, state: 'done' });
    }
    expect(new Set(state.movements.map(({ reference }) => reference)).size).toBe(40);
    expect(state.balances).toEqual({ BTC: '120' });
  });

  it('keeps the newest rows of a list', () => {
    const rows: number[] = [];
    for (let row = 0; row < mostKept + 7; row += 1) keepNewest(rows, row);
    expect([rows.length, rows[0], rows.at(-1)]).toEqual([mostKept, 7, mostKept + 6]);
  });

  it('forgets no withdrawal that it has not paid', () => {
    const state = { ...freshState(), balances: { BTC: '1' } };
    const { reference } = withdraw(state, { ...asked, gross: '1' });
    for (let made = 0; made < mostKept; made += 1) takeIn(state, { ...came, state: 'done' });
    expect(state.movements).toHaveLength(mostKept);
    expect(state.movements[0]?.reference).toBe(reference);
  });

  it('lets a fault strike as often as it was set', () => {
    const state = freshState();
    setFault(state, 'short', 2);
    expect([strike(state, 'short'), strike(state, 'short'), strike(state, 'short')]).toEqual([true, true, false]);
    expect(state.strikes).toEqual({});
  });

  it('lets one fault befall one withdrawal', () => {
    const state = { ...freshState(), balances: { BTC: '100' } };
    setFault(state, 'short', 1);
    setFault(state, 'internal', 1);
    const faults = [1, 2, 3].map(() => withdraw(state, { ...asked, gross: '1' }).fault);
    expect(faults.filter((fault) => fault !== undefined).sort()).toEqual(['internal', 'short']);
  });
});
