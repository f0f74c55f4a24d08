import { readFileSync } from 'node:fs';
import { Asset, Keypair, xdr } from '@stellar/stellar-base';
import { assetName, changesOf, nativeAsset, operationResults } from '../../../src/chains/stellar/stellar-ledger.ts';
import { accountEntry, lineEntry, metaOf, publicKeyOf } from '../../support/chains/stellar-ledgers.ts';

const file = new URL('../../fixtures/stellar/transactions.json', import.meta.url);
/** Of a new account, the last one recorded. */
const newAccount = (
  JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly resultXdr: string; readonly resultMetaXdr: string }[]
).at(-1);
if (!newAccount) throw new Error('nothing is recorded');

const [wallet, theirs, issuer] = [1, 2, 3].map((byte) =>
  Keypair.fromRawEd25519Seed(Buffer.alloc(32, byte)).publicKey(),
) as [string, string, string];
const usdc = new Asset('USDC', issuer);
const own = new Set([wallet]);
const unsound = expect.objectContaining({ code: 'unsound_answer' });

describe('changes of balances', () => {
  const { ledgerEntryCreated, ledgerEntryState, ledgerEntryUpdated, ledgerEntryRemoved } = xdr.LedgerEntryChange;
  const line = usdc.toTrustLineXDRObject();
  const trustLine = xdr.LedgerKey.trustline(
    new xdr.LedgerKeyTrustLine({ accountId: publicKeyOf(wallet), asset: line }),
  );
  const accountKey = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: publicKeyOf(wallet) }));

  test('of a recorded transaction are as its meta says', () => {
    const payer = 'GAIH3ULLFQ4DGSECF2AR555KZ4KNDGEKN4AFI4SU2M7B43MGK3QJZNSR';
    const created = 'GDWZIJSZ43ZSL6EVFUSJADR5RQA7MFXXWLIRSIRTEQTWZH62BBCTYZ7W';
    const meta = xdr.TransactionMeta.fromXDR(newAccount.resultMetaXdr, 'base64');
    const lost = { account: payer, asset: nativeAsset, change: -100_000_000_000n };
    const won = { account: created, asset: nativeAsset, change: 100_000_000_000n };
    expect(changesOf(meta, new Set([payer, created]))).toEqual([[lost, won]]);
    expect(changesOf(meta, new Set([created]))).toEqual([[won]]);
    expect(changesOf(meta, own)).toEqual([[]]);
    const result = xdr.TransactionResult.fromXDR(newAccount.resultXdr, 'base64');
    expect(operationResults(result)).toHaveLength(1);
  });

  test.each<[string, xdr.LedgerEntryChange[], object[]]>([
    [
      'a rise',
      [ledgerEntryState(accountEntry(wallet, '3')), ledgerEntryUpdated(accountEntry(wallet, '8'))],
      [{ asset: nativeAsset, change: 5n }],
    ],
    [
      'the same balance as before',
      [ledgerEntryState(accountEntry(wallet, '3')), ledgerEntryUpdated(accountEntry(wallet, '3'))],
      [],
    ],
    [
      'a rise of a token',
      [ledgerEntryState(lineEntry(wallet, line, '0')), ledgerEntryUpdated(lineEntry(wallet, line, '5'))],
      [{ asset: assetName('USDC', issuer), change: 5n }],
    ],
    ['a new trust line', [ledgerEntryCreated(lineEntry(wallet, line, '0'))], []],
    [
      'a trust line that is removed',
      [ledgerEntryState(lineEntry(wallet, line, '4')), ledgerEntryRemoved(trustLine)],
      [{ asset: assetName('USDC', issuer), change: -4n }],
    ],
    [
      'an account that is removed',
      [ledgerEntryState(accountEntry(wallet, '4')), ledgerEntryRemoved(accountKey)],
      [{ asset: nativeAsset, change: -4n }],
    ],
    [
      'two rises in one operation',
      [
        ...[ledgerEntryState(accountEntry(wallet, '1')), ledgerEntryUpdated(accountEntry(wallet, '2'))],
        ...[ledgerEntryState(accountEntry(wallet, '2')), ledgerEntryUpdated(accountEntry(wallet, '4'))],
      ],
      [
        { asset: nativeAsset, change: 1n },
        { asset: nativeAsset, change: 2n },
      ],
    ],
    [
      "others' balances",
      [ledgerEntryState(accountEntry(theirs, '3')), ledgerEntryUpdated(accountEntry(theirs, '8'))],
      [],
    ],
  ])('%s', (_, changes, found) => {
    const expected = found.map((each) => ({ account: wallet, ...each }));
    expect(changesOf(metaOf([[], changes]), own)).toEqual([[], expected]);
  });

  test('of an unknown form are refused', () => {
    expect(() => changesOf(new xdr.TransactionMeta(0, []), own)).toThrow(unsound);
  });
});
