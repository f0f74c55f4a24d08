import { call, type PartnerSchemas } from './api.ts';

/** An order with its details and its history. */
export type WholeOrder = PartnerSchemas['Order'] &
  PartnerSchemas['ShownDetails'] & { readonly events: readonly PartnerSchemas['OrderEvent'][] };

/** The options of a query for useQuery. The details are never older than the order's status. */
export function wholeOrder(id: string) {
  const path = { order_id: id };
  return {
    queryKey: ['wholeOrder', id] as const,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<WholeOrder> => {
      const order = await call('getOrder', { path, signal });
      const [details, { data: events }] = await Promise.all([
        call('getOrderDetails', { path, signal }),
        call('listOrderEvents', { path, signal }),
      ]);
      return { ...order, ...details, events };
    },
  };
}
