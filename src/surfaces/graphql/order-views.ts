import type { MikroORM } from '@mikro-orm/postgresql';
import { Arg, Ctx, Field, ID, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import { type OrderView, orderViews, removeOrderView, saveOrderView } from '../../accounts/staff/order-views.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { addressFilters, filterOfAddress } from '../../orders/read/order-address.ts';
import type { GraphqlContext } from './server/context.ts';
import { RequiresPermission } from './server/requires-permission.ts';

@ObjectType('OrderView', { description: 'A named filter of the order list. Only its member sees it.' })
class OrderViewType {
  @Field(() => ID, { description: 'Id of the view.' })
  id!: string;

  @Field(() => String, { description: 'Its name.' })
  name!: string;

  @Field(() => String, { description: "The filters as the page's address carries them: 'status=FAILED&coin=BTC'." })
  query!: string;
}

/** A member's own views. They change nothing that others see, so the audit log leaves them out. */
@Resolver(() => OrderViewType)
export class OrderViewResolver {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  @RequiresPermission('self:views')
  @Query(() => [OrderViewType], { description: 'Own views of the order list, by name.' })
  orderViews(@Ctx() { em, caller }: GraphqlContext): Promise<OrderView[]> {
    return orderViews(em, caller.id);
  }

  @RequiresPermission('self:views')
  @Mutation(() => OrderViewType, { description: 'Saves an own view. One of the same name is replaced.' })
  orderViewSave(
    @Arg('name', () => String, { description: 'Its name, 1 to 40 characters.' }) name: string,
    @Arg('query', () => String, { description: `Its filters: ${addressFilters.join(', ')}.` }) query: string,
    @Ctx() { caller }: GraphqlContext,
  ): Promise<OrderView> {
    const view = { name, query: canonical(query), now: this.#clock.now() };
    return this.#orm.em.fork().transactional((em) => saveOrderView(em, caller.id, view));
  }

  @RequiresPermission('self:views')
  @Mutation(() => OrderViewType, { description: 'Removes an own view.' })
  orderViewRemove(
    @Arg('id', () => ID, { description: 'The view.' }) id: string,
    @Ctx() { caller }: GraphqlContext,
  ): Promise<OrderView> {
    return this.#orm.em.fork().transactional((em) => removeOrderView(em, caller.id, id));
  }
}

/**
 * The same filters in one order, without empty ones.
 *
 * @throws AppError as `filterOfAddress`, invalid_value for a filter that is given twice.
 */
function canonical(query: string): string {
  const given = new URLSearchParams(query);
  if (given.size > new Set(given.keys()).size) throw new AppError('invalid_value', 'each filter is given once');
  const filters = Object.fromEntries(given);
  filterOfAddress(filters);
  const ordered = addressFilters.map((name): [string, string] => [name, filters[name] ?? '']);
  return new URLSearchParams(ordered.filter(([, value]) => value !== '')).toString();
}
