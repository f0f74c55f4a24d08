import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { Signer } from '../port/signer.ts';
import { nestedFormOf } from './key-forms.ts';

/**
 * Name of the setting that holds the hot wallet's address: of one live chain, or of the whole
 * sandbox.
 */
export function hotWalletSetting(place: string): string {
  return `hot_wallet:${place}`;
}

/** The hot wallet's address, for processes that hold no keys; null before the first start. */
export async function knownHotWallet(em: EntityManager, place: string): Promise<string | null> {
  const [row] = await sql<{ value: string }>(em, 'select value from setting where name = ?', [hotWalletSetting(place)]);
  return row?.value ?? null;
}

function channelsSetting(place: string): string {
  return `hot_wallet_channels:${place}`;
}

/** The accounts other than the hot wallet, in the order of their numbers; empty without. */
export async function knownChannels(em: EntityManager, place: string): Promise<readonly string[]> {
  const [row] = await sql<{ value: string }>(em, 'select value from setting where name = ?', [channelsSetting(place)]);
  return row === undefined ? [] : row.value.split(' ');
}

/**
 * Stores the accounts that the signer reports besides the hot wallet. More of them may come later,
 * when the settings ask for more. None may change, and none is forgotten: it has coins.
 *
 * @returns What is wrong; null for nothing. A signer that is away is no fault once they are known.
 */
export async function rememberChannels(em: EntityManager, signer: Signer, place: string): Promise<string | null> {
  let told: readonly string[];
  try {
    told = await signer.channels(place);
  } catch (error) {
    if ((await knownChannels(em, place)).length > 0) return null;
    return `the channels of ${place} are not known: ${error instanceof Error ? error.message : 'the signer failed'}`;
  }
  const known = await knownChannels(em, place);
  const common = Math.min(known.length, told.length);
  if (told.slice(0, common).join(' ') !== known.slice(0, common).join(' ')) {
    return `the signer's channels of ${place} are others than this database knows; use the signer-seed of this database`;
  }
  const text =
    'insert into setting (name, value) values (?, ?) on conflict (name) do update set value = excluded.value';
  const most = told.length > known.length ? told : known;
  if (most.length > 0) await sql(em, text, [channelsSetting(place), most.join(' ')]);
  return null;
}

/**
 * Stores the nested witness form of the wallet's key. The taproot form stays unknown, because only
 * the signer has the public key.
 */
async function rememberNestedForm(em: EntityManager, place: string, address: string): Promise<void> {
  const form = nestedFormOf(address);
  if (form === null) return;
  const text =
    'insert into setting (name, value) values (?, ?) on conflict (name) do update set value = excluded.value';
  await sql(em, text, [`hot_wallet_nested:${place}`, form]);
}

/**
 * Stores the signer's wallet at its first use. So a process can start while the signer is away, and
 * a signer with other keys is noticed. A signer with other settings answers with an address of
 * another form.
 *
 * @returns The address, or what is wrong.
 */
export async function rememberHotWallet(
  em: EntityManager,
  signer: Signer,
  place: string,
  isAddress: (address: string) => boolean = () => true,
): Promise<{ readonly address: string } | { readonly fault: string }> {
  let address: string | null = null;
  let failure = '';
  try {
    address = await signer.hotWallet(place);
  } catch (error) {
    failure = error instanceof Error ? error.message : 'it failed';
  }
  const known = await knownHotWallet(em, place);
  if (address === null && known === null) return { fault: `the hot wallet of ${place} is not known: ${failure}` };
  if (address !== null && !isAddress(address)) {
    return {
      fault: `the signer's hot wallet of ${place} is ${address.slice(0, 100)}, which is not an address there; start the signer with the same NETWORKS_FILE`,
    };
  }
  if (address !== null && known !== null && address !== known) {
    return {
      fault: `the signer's hot wallet of ${place} is ${address}, and this database pays from ${known}; use the signer-seed of this database`,
    };
  }
  if (known === null) {
    await sql(em, 'insert into setting (name, value) values (?, ?) on conflict do nothing', [
      hotWalletSetting(place),
      address,
    ]);
  }
  await rememberNestedForm(em, place, known ?? address ?? '');
  return { address: known ?? address ?? '' };
}
