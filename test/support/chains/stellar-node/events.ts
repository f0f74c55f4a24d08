import { xdr } from '@stellar/stellar-base';
import { type AssetText, contractOf, issuerOf, native } from './assets.ts';
import { balanceIdXdr } from './entries.ts';
import { accountIdXdr, int64, noExtension, uint64 } from './keys.ts';

/** What a movement was marked with: the id of a muxed account, or else the memo. */
export type Mark = bigint | xdr.Memo | null;

/** A movement of an asset, as CAP-67 has it. https://stellar.org/protocol/cap-67 */
export interface Movement {
  readonly asset: AssetText;
  readonly amount: bigint;
  readonly from: string | xdr.ScAddress;
  readonly to: string | xdr.ScAddress;
  readonly mark?: Mark;
}

export function accountAddress(address: string): xdr.ScAddress {
  return xdr.ScAddress.scAddressTypeAccount(accountIdXdr(address));
}

export function contractAddress(contract: Buffer): xdr.ScAddress {
  return xdr.ScAddress.scAddressTypeContract(contract as unknown as xdr.ContractId);
}

export function balanceAddress(id: string): xdr.ScAddress {
  return xdr.ScAddress.scAddressTypeClaimableBalance(balanceIdXdr(id));
}

export function int128(value: bigint): xdr.ScVal {
  const parts = { hi: int64(BigInt.asIntN(64, value >> 64n)), lo: uint64(BigInt.asUintN(64, value)) };
  return xdr.ScVal.scvI128(new xdr.Int128Parts(parts));
}

/** A transfer; a mint when the issuer sends, and a burn when the issuer receives. */
export function movementEvent(movement: Movement, passphrase: string): xdr.ContractEvent {
  const { asset, amount, from, to, mark = null } = movement;
  const issuer = issuerOf(asset);
  const name = issuer !== null && from === issuer ? 'mint' : issuer !== null && to === issuer ? 'burn' : 'transfer';
  const parties = [...(name === 'mint' ? [] : [from]), ...(name === 'burn' ? [] : [to])].map(addressValue);
  const topics = [symbol(name), ...parties, xdr.ScVal.scvString(asset)];
  const marked = name === 'burn' ? null : markValue(mark);
  const data = marked
    ? xdr.ScVal.scvMap([member('amount', int128(amount)), member('to_muxed_id', marked)])
    : int128(amount);
  return contractEvent(contractOf(asset, passphrase), topics, data);
}

/** The fee that a transaction was charged, or less than 0 for what it got back. */
export function feeEvent(payer: string, amount: bigint, passphrase: string): xdr.TransactionEvent {
  const event = contractEvent(contractOf(native, passphrase), [symbol('fee'), addressValue(payer)], int128(amount));
  return new xdr.TransactionEvent({ stage: xdr.TransactionEventStage.transactionEventStageBeforeAllTxes(), event });
}

function contractEvent(contract: Buffer, topics: xdr.ScVal[], data: xdr.ScVal): xdr.ContractEvent {
  return new xdr.ContractEvent({
    ext: noExtension(),
    contractId: contract as unknown as xdr.ContractId,
    type: xdr.ContractEventType.contract(),
    body: new xdr.ContractEventBody(0, new xdr.ContractEventV0({ topics, data })),
  });
}

function addressValue(party: string | xdr.ScAddress): xdr.ScVal {
  return xdr.ScVal.scvAddress(typeof party === 'string' ? accountAddress(party) : party);
}

const symbol = (name: string): xdr.ScVal => xdr.ScVal.scvSymbol(name);

function member(name: string, val: xdr.ScVal): xdr.ScMapEntry {
  return new xdr.ScMapEntry({ key: symbol(name), val });
}

function markValue(mark: Mark): xdr.ScVal | null {
  if (mark === null) return null;
  if (typeof mark === 'bigint') return xdr.ScVal.scvU64(uint64(mark));
  switch (mark.switch().name) {
    case 'memoId':
      return xdr.ScVal.scvU64(mark.id());
    case 'memoText':
      return xdr.ScVal.scvString(mark.text());
    case 'memoHash':
      return xdr.ScVal.scvBytes(mark.hash());
    case 'memoReturn':
      return xdr.ScVal.scvBytes(mark.retHash());
    default:
      return null;
  }
}
