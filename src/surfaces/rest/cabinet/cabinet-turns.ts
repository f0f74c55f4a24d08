import type { OperationRow } from '../../../accounts/members/rights.ts';
import { PartnerQueues } from '../../../base/limits/partner-queues.ts';

type Who = { readonly memberId: string; readonly partner: { readonly id: string } };

const waitMs = 10_000;

/**
 * Who works at the cabinet's four connections to PostgreSQL: one request of a member, two of a
 * partner and three of all. So no member keeps the others of the partner waiting, and no partner
 * those of others. One connection is left for sessions, for signing in, and for what ends access.
 */
export class CabinetTurns {
  readonly #ofMember = new PartnerQueues({ working: 1, waiting: 30, waitMs });
  readonly #ofPartner = new PartnerQueues({ working: 2, waiting: 1_000, waitMs });
  readonly #ofAll = new PartnerQueues({ working: 3, waiting: 1_000, waitMs });
  /** A replay and a test of a member, which wait without a connection. */
  readonly #waits = new PartnerQueues({ working: 2, waiting: 30, waitMs });
  /** What ends access, and waits for the like of the same member only. */
  readonly #ends = new PartnerQueues({ working: 1, waiting: 30, waitMs });

  /**
   * Does an operation when the member's turn has come.
   *
   * @throws AppError rate_limited when too much of the member waits, or the turn does not come.
   */
  work<Result>(who: Who, { endsAccess, waitsElsewhere }: OperationRow, work: () => Promise<Result>): Promise<Result> {
    if (endsAccess) return this.#ends.work(who.memberId, work);
    return waitsElsewhere ? this.#waits.work(who.memberId, work) : this.part(who, work);
  }

  /** Does a part of an operation that waits elsewhere, when its turn has come. */
  part<Result>(who: Who, work: () => Promise<Result>): Promise<Result> {
    return this.#ofMember.work(who.memberId, () => this.#amongMembers(who, work));
  }

  /** @throws AppError rate_limited when the member has four downloads open. */
  download(who: Who, parts: AsyncIterable<string>): AsyncIterable<string> {
    return this.#ofMember.download(who.memberId, this.#partsAmongMembers(who, parts[Symbol.asyncIterator]()));
  }

  #amongMembers<Result>({ partner }: Who, work: () => Promise<Result>): Promise<Result> {
    return this.#ofPartner.work(partner.id, () => this.#ofAll.work('all', work));
  }

  async *#partsAmongMembers(who: Who, parts: AsyncIterator<string>): AsyncGenerator<string> {
    for (;;) {
      const { done, value } = await this.#amongMembers(who, () => parts.next());
      if (done) return;
      yield value;
    }
  }
}
