import type { EvmBlock, EvmReceipt } from '../../../src/chains/evm/evm-answer.ts';
import { readCallTrace } from '../../../src/chains/evm/evm-traces.ts';
import { transfersOf } from '../../../src/chains/evm/evm-transfers.ts';

const [from, contract, to] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
const txid = `0x${'1'.repeat(64)}`;

/** A block with a call of a contract that sends this many coins on. */
function sentOn(amount: bigint, recipient = to) {
  const block = {
    ref: { height: 1, hash: `0x${'2'.repeat(64)}`, parent: `0x${'3'.repeat(64)}` },
    timestamp: 0,
    transactions: [{ txid, from, to: contract, nonce: 0n, value: 7n }],
  } as unknown as EvmBlock;
  const receipt = { txid, from, to: contract, height: 1, blockHash: block.ref.hash, success: true, logs: [], fee: 1n };
  const inner = { type: 'CALL', from: contract, to: recipient, value: `0x${amount.toString(16)}` };
  const trace = readCallTrace({ type: 'CALL', from, to: contract, value: '0x7', calls: [inner] });
  return transfersOf(block, new Map([[txid, receipt as EvmReceipt]]), new Map([[txid, trace]]), new Map());
}

describe('the transfers of a block', () => {
  it('keep their keys over a reorganisation with the same transfers', () => {
    expect(sentOn(5n).map(({ key }) => key)).toEqual(sentOn(5n).map(({ key }) => key));
    expect(sentOn(5n).map(({ key }) => key)).toEqual([
      `${txid}:0`,
      expect.stringMatching(new RegExp(`^${txid}:trace0:[0-9a-f]{16}$`)),
    ]);
  });

  it('get other keys when the transaction has other transfers in another block', () => {
    const keys = [sentOn(5n), sentOn(6n), sentOn(5n, from)].map(([, inner]) => inner?.key);
    expect(new Set(keys).size).toBe(3);
  });
});
