import type { MikroORM } from '@mikro-orm/postgresql';
import { networkOfChain } from '../networks/networks.ts';
import { deriveDepositKey } from './deposit-address.ts';

/** Addresses in one statement. */
const batch = 500;

interface Missing {
  readonly id: string;
  readonly keychain: string;
  readonly index: number;
  readonly address: string;
  readonly xpub: string;
}

/**
 * Fills in the hidden forms of deposit addresses that an earlier version wrote without them. Each
 * batch is a transaction of its own, and any process may run it at any time.
 *
 * @returns How many it filled in. It skips an address that is not the one of its account's key.
 */
export async function fillMissingKeyForms(orm: MikroORM): Promise<number> {
  const em = orm.em.fork();
  let filled = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await em.execute<Missing[]>(
      `select d.id, d.keychain, d.index::int as index, d.address, a.xpub
         from deposit_address d join deposit_account a on a.keychain = d.keychain
        where d.nested_form is null and d.keychain in ('bitcoin', 'litecoin') and a.xpub is not null and d.id > ?
        order by d.id limit ${batch}`,
      [after],
    );
    const last = rows.at(-1);
    if (!last) return filled;
    const forms = (await Promise.all(rows.map(formsOf))).filter((form) => form !== null);
    await em.execute(
      `update deposit_address d set nested_form = f.nested, taproot_form = f.taproot
         from jsonb_to_recordset(?::jsonb) as f (id uuid, nested text, taproot text)
        where d.id = f.id and d.nested_form is null`,
      [JSON.stringify(forms)],
    );
    filled += forms.length;
    after = last.id;
  }
}

async function formsOf({ id, keychain, index, address, xpub }: Missing): Promise<object | null> {
  const network = networkOfChain(keychain)?.id ?? '';
  const derived = await deriveDepositKey(network, xpub, index);
  return derived.address === address && derived.hiddenForms ? { id, ...derived.hiddenForms } : null;
}
