import { xdr } from '@stellar/stellar-base';
import { assetText, issuerOf, native } from './assets.ts';
import { credit, debit, reserveEntries, type Site } from './balances.ts';
import { accountFlags, type StellarAccount, trustFlags } from './entries.ts';
import { balanceAddress } from './events.ts';
import { accountIdText, accountIdXdr, fromMuxed, int64, sha256 } from './keys.ts';
import { failure, markOf, type OpOutcome, success } from './payments.ts';
import type { StellarTransaction } from './transaction.ts';

export function changeTrust(op: xdr.ChangeTrustOp, source: string, site: Site): OpOutcome {
  const { state, seq } = site;
  const [asset, limit] = [assetText(op.line()), op.limit().toBigInt()];
  const issuer = asset === null ? null : issuerOf(asset);
  if (asset === null || issuer === null) return failure('opNotSupported');
  const line = state.trustLine(source, asset);
  const issuing = state.account(issuer);
  if (line) {
    if (limit < line.balance + line.buying) return failure('changeTrustInvalidLimit');
    if (limit > 0n && !issuing) return failure('changeTrustNoIssuer');
    if (limit > 0n) state.put({ ...line, limit, lastModified: seq });
    else {
      state.delete(line);
      reserveEntries(site, source, -1);
    }
    return success('changeTrustSuccess', []);
  }
  if (limit === 0n) return failure('changeTrustInvalidLimit');
  if (!issuing) return failure('changeTrustNoIssuer');
  if (!reserveEntries(site, source, 1)) return failure('changeTrustLowReserve');
  const flags = (issuing.flags & accountFlags.authRequired) === 0 ? trustFlags.authorized : 0;
  const amounts = { balance: 0n, limit, buying: 0n, selling: 0n };
  state.put({ kind: 'trust', address: source, asset, flags, lastModified: seq, ...amounts });
  return success('changeTrustSuccess', []);
}

export function manageData(op: xdr.ManageDataOp, source: string, site: Site): OpOutcome {
  const { state, seq } = site;
  const [name, value] = [op.dataName().toString(), op.dataValue()];
  const item = state.data(source, name);
  if (!value) {
    if (!item) return failure('manageDataNameNotFound');
    state.delete(item);
    reserveEntries(site, source, -1);
    return success('manageDataSuccess', []);
  }
  if (!item && !reserveEntries(site, source, 1)) return failure('manageDataLowReserve');
  state.put({ kind: 'data', address: source, name, value, lastModified: seq });
  return success('manageDataSuccess', []);
}

export function accountMerge(destination: xdr.MuxedAccount, source: string, site: Site, memo: xdr.Memo): OpOutcome {
  const { state, seq } = site;
  const { address: to, id } = fromMuxed(destination);
  const account = state.existing(source);
  if (!state.account(to)) return failure('accountMergeNoAccount');
  if ((account.flags & accountFlags.authImmutable) !== 0) return failure('accountMergeImmutableSet');
  if (account.numSubEntries > account.signers.length) return failure('accountMergeHasSubEntries');
  if (account.seqNum >= BigInt(seq) << 32n) return failure('accountMergeSeqnumTooFar');
  if (account.numSponsoring > 0) return failure('accountMergeIsSponsor');
  const amount = account.balance;
  if (credit(site, to, native, amount) !== null) return failure('accountMergeDestFull');
  state.delete(account);
  const movement = { asset: native, amount, from: source, to, mark: markOf(id, memo) };
  return success('accountMergeSuccess', [movement], int64(amount));
}

export function createClaimableBalance(
  op: xdr.CreateClaimableBalanceOp,
  source: string,
  site: Site,
  { tx, opNum }: { readonly tx: StellarTransaction; readonly opNum: number },
): OpOutcome {
  const { state, seq } = site;
  const [asset, amount] = [assetText(op.asset()) ?? native, op.amount().toBigInt()];
  const claimants = op.claimants().map((one) => accountIdText(one.v0().destination()));
  if (!reserveEntries(site, source, claimants.length, 'numSponsoring')) {
    return failure('createClaimableBalanceLowReserve');
  }
  const why = debit(site, source, asset, amount);
  if (why !== null) return failure(`createClaimableBalance${why.replace('Src', '')}`);
  const preimage = xdr.HashIdPreimage.envelopeTypeOpId(
    new xdr.HashIdPreimageOperationId({ sourceAccount: accountIdXdr(tx.source), seqNum: int64(tx.seqNum), opNum }),
  );
  const id = sha256(preimage.toXDR()).toString('hex');
  state.put({ kind: 'claimable', id, address: source, asset, amount, claimants, lastModified: seq });
  const balanceId = xdr.ClaimableBalanceId.claimableBalanceIdTypeV0(Buffer.from(id, 'hex'));
  const movement = { asset, amount, from: source, to: balanceAddress(id) };
  return success('createClaimableBalanceSuccess', [movement], balanceId);
}

export function bumpSequence(op: xdr.BumpSequenceOp, source: string, { state, seq }: Site): OpOutcome {
  const bumpTo = op.bumpTo().toBigInt();
  if (bumpTo > state.existing(source).seqNum) state.update(source, { seqNum: bumpTo }, seq);
  return success('bumpSequenceSuccess', []);
}

/** Flags, thresholds, the home domain and signers. */
export function setOptions(op: xdr.SetOptionsOp, source: string, site: Site): OpOutcome {
  const { state, seq } = site;
  const account = state.existing(source);
  const [set, clear] = [op.setFlags() ?? 0, op.clearFlags() ?? 0];
  const isImmutable = (account.flags & accountFlags.authImmutable) !== 0;
  if (isImmutable && (set | clear) !== 0) return failure('setOptionsCantChange');
  const given = [op.masterWeight(), op.lowThreshold(), op.medThreshold(), op.highThreshold()];
  const [master, low, medium, high] = account.thresholds;
  const old = [master, low, medium, high];
  const [a = 0, b = 0, c = 0, d = 0] = given.map((value, i) => value ?? old[i] ?? 0);
  const homeDomain = op.homeDomain()?.toString() ?? account.homeDomain;
  const flags = (account.flags & ~clear) | set;
  state.update(source, { flags, homeDomain, thresholds: [a, b, c, d] }, seq);
  const signer = op.signer();
  if (signer && !signerChanged(signer, account, site)) return failure('setOptionsLowReserve');
  return success('setOptionsSuccess', []);
}

/** Sets the weight of a signer, or removes it. Returns whether the account has the reserve. */
function signerChanged(signer: xdr.Signer, { address: source, signers }: StellarAccount, site: Site): boolean {
  const address = accountIdText(xdr.PublicKey.publicKeyTypeEd25519(signer.key().ed25519()));
  const others = signers.filter((one) => one.address !== address);
  const weight = signer.weight();
  const changed = weight > 0 ? [...others, { address, weight }] : others;
  if (changed.length !== signers.length && !reserveEntries(site, source, changed.length - signers.length)) return false;
  site.state.update(source, { signers: changed }, site.seq);
  return true;
}
