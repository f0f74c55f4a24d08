import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { errorFromFaults, type FieldFault } from '../base/errors.ts';
import { otherNetworksOf } from '../chains/addresses/address.ts';
import type { Currency } from '../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import { destination, destinationWarnings, ownAddress, type SentDestination, type Warning } from './destination.ts';
import { type CreateOutcome, ownDestinations } from './order-statements.ts';

/** An address that a user has entered, for a coin on a network. */
export interface AddressRequest {
  readonly coin: string;
  readonly network: string;
  readonly address: string;
  readonly tag: string | null;
}

/** Whether a create would pay to an address, and what the partner should know about it. */
export interface CheckedAddress {
  /** The form in which an order would store and show it. Null for an address that is refused. */
  readonly canonical: string | null;
  /** The tag that would be used: the sent one, or the one that the address carries. */
  readonly tag: string | null;
  /** Every fault; empty for a good address. */
  readonly faults: readonly FieldFault[];
  /** Networks of active currencies on which the refused text would be an address. */
  readonly looksLike: readonly string[];
  readonly warnings: readonly Warning[];
}

const fields = { address: 'address', tag: 'tag' };

/** Judges addresses as a create would, and stores nothing. */
export class AddressChecks {
  readonly #catalogue: CurrencyCatalogue;
  readonly #em: EntityManager;

  constructor(orm: MikroORM, catalogue: CurrencyCatalogue) {
    this.#catalogue = catalogue;
    this.#em = orm.em.fork();
  }

  /** @throws AppError 422 when there is no such active currency. A bad address is no error. */
  async check(request: AddressRequest): Promise<CheckedAddress> {
    const currency = this.currency(request);
    const { network } = currency;
    const sent: SentDestination = { fields, address: request.address, tag: request.tag };
    const faults: FieldFault[] = [];
    const found = destination(sent, { currency, network }, faults, this.#catalogue);
    if (found && (await this.#isOwn(found.keyForms))) faults.unshift(ownAddress(fields.address));
    if (found && faults.length === 0) {
      const { address: canonical, tag } = found;
      return { canonical, tag, faults, looksLike: [], warnings: destinationWarnings(sent, network, found) };
    }
    return { canonical: null, tag: null, faults, looksLike: this.#others(network, request.address), warnings: [] };
  }

  /** @throws AppError 422 when there is no such active currency. */
  currency({ coin, network }: Pick<AddressRequest, 'coin' | 'network'>): Currency {
    const resolved = this.#catalogue.resolve(coin, network);
    if (resolved.ok) return resolved.currency;
    const { part, kind, detail } = resolved;
    const named = (part === 'coin' ? coin : network).slice(0, 20);
    throw errorFromFaults([{ field: part, kind, detail: `${part} '${named}': ${detail}` }]);
  }

  #others(network: string, address: string): string[] {
    const offered = new Set(this.#catalogue.rows.filter(({ isActive }) => isActive).map((row) => row.network));
    return otherNetworksOf(network, address).filter((other) => offered.has(other));
  }

  async #isOwn(recipientForms: string): Promise<boolean> {
    const [own] = await sql<Pick<CreateOutcome, 'ownRecipient'>>(this.#em, ownDestinations, {
      recipientForms,
      refundForms: null,
    });
    return own?.ownRecipient ?? false;
  }
}
