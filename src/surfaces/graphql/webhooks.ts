import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { AppError, errorFromFaults } from '../../base/errors.ts';
import type { DeliveryLog, DeliveryView } from '../../webhooks/delivery-log.ts';
import type { EndpointChanges, EndpointService, SecretOfEndpoint } from '../../webhooks/endpoint-service.ts';
import { webhookEventTypes } from '../../webhooks/partner-events.ts';
import type { DeliveryState } from '../../webhooks/webhook-delivery.entity.ts';
import type { DisabledReason, WebhookEndpoint } from '../../webhooks/webhook-endpoint.entity.ts';
import type { GraphqlContext } from './server/context.ts';
import { AmountFormEnum, DeliveryStateEnum, EndpointStatusEnum } from './server/enumerations.ts';
import { withInputNames } from './server/input-faults.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime } from './server/scalars.ts';

@ObjectType('WebhookEndpoint', { description: 'Where a partner gets its events.' })
class WebhookEndpointType {
  @Field(() => ID, { description: 'Id of the endpoint.' })
  id!: string;

  @Field(() => String, { description: 'Where events are sent.' })
  url!: string;

  @Field(() => [String], { nullable: true, description: 'Types of events that it gets; null for all.' })
  types!: string[] | null;

  @Field(() => String, { nullable: true, description: 'Only orders from this coin.' })
  coinFrom!: string | null;

  @Field(() => String, { nullable: true, description: 'Only orders to this coin.' })
  coinTo!: string | null;

  @Field(() => AmountFormEnum, { description: 'How amounts are written.' })
  amounts!: 'string' | 'number';

  @Field(() => EndpointStatusEnum, { description: 'Whether events are sent.' })
  status!: 'enabled' | 'disabled';

  @Field(() => String, { nullable: true, description: 'Why it is disabled: partner, staff, gone or failing.' })
  disabledReason!: DisabledReason | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it is disabled.' })
  disabledAt!: Date | null;

  @Field(() => Int, { description: 'Failed attempts since the last success.' })
  failures!: number;

  @Field(() => DateTime, { nullable: true, description: 'Since when it fails.' })
  failingSince!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When an attempt succeeded last, to the minute.' })
  lastSuccessAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When an attempt failed last.' })
  lastFailureAt!: Date | null;

  @Field(() => DateTime, { description: 'Time of creation.' })
  createdAt!: Date;
}

@ObjectType('WebhookSecret', { description: 'A new signing secret, shown once.' })
class WebhookSecretType {
  @Field(() => WebhookEndpointType, { description: 'The endpoint.' })
  endpoint!: WebhookEndpoint;

  @Field(() => String, { description: 'The secret. It cannot be read again.' })
  secret!: string;
}

@ObjectType('WebhookAttempt', { description: 'One attempt of a delivery.' })
class WebhookAttemptType {
  @Field(() => Int, { description: 'Counts from 1.' })
  attempt!: number;

  @Field(() => String, { description: 'When it began, ISO 8601.' })
  at!: string;

  @Field(() => Int, { nullable: true, description: 'Status of the answer; null without one.' })
  status!: number | null;

  @Field(() => Int, { description: 'Milliseconds that it took.' })
  ms!: number;

  @Field(() => String, { nullable: true, description: 'What went wrong; null for a success.' })
  error!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The first 1,024 bytes of the answer as text, unprintable ones replaced; null without an answer.',
  })
  answer?: string | null;
}

@ObjectType('WebhookDelivery', { description: 'An event on its way to an endpoint.' })
class WebhookDeliveryType {
  @Field(() => String, { description: 'Id of the event.' })
  eventId!: string;

  @Field(() => String, { description: 'Type of the event.' })
  type!: string;

  @Field(() => ID, { nullable: true, description: 'The order; null for a test.' })
  orderId!: string | null;

  @Field(() => Boolean, { description: 'Whether it was replayed.' })
  isReplay!: boolean;

  @Field(() => DeliveryStateEnum, { description: 'State of the delivery.' })
  state!: DeliveryState;

  @Field(() => String, { description: 'Time of creation, ISO 8601.' })
  createdAt!: string;

  @Field(() => String, { nullable: true, description: 'When it is tried next, ISO 8601.' })
  nextAttemptAt!: string | null;

  @Field(() => [WebhookAttemptType], { description: 'The attempts, oldest first.' })
  log!: WebhookAttemptType[];
}

@ObjectType('WebhookTest', { description: 'A test of an endpoint that was ordered.' })
class WebhookTestType {
  @Field(() => String, { description: 'Id of the event that is sent.' })
  eventId!: string;
}

@ObjectType('WebhookReplay', { description: 'Events that are sent again.' })
class WebhookReplayType {
  @Field(() => Int, { description: 'How many. Events that wait already are not sent twice.' })
  count!: number;
}

@InputType('WebhookInput', { description: 'Properties of an endpoint. An absent one stays as it is.' })
class WebhookInput {
  @Field(() => String, { nullable: true, description: 'An https URL with a public name. Required for a new endpoint.' })
  url?: string | null;

  @Field(() => [String], { nullable: true, description: 'Types of events; null for all.' })
  types?: string[] | null;

  @Field(() => String, { nullable: true, description: 'Only orders from this coin; null for all.' })
  coinFrom?: string | null;

  @Field(() => String, { nullable: true, description: 'Only orders to this coin; null for all.' })
  coinTo?: string | null;

  @Field(() => AmountFormEnum, { nullable: true, description: 'How amounts are written.' })
  amounts?: 'string' | 'number' | null;

  @Field(() => EndpointStatusEnum, { nullable: true, description: 'Whether events are sent.' })
  status?: 'enabled' | 'disabled' | null;
}

const mostShown = 100;

@Resolver(() => WebhookEndpointType)
export class WebhookResolver {
  readonly #audit: AuditLog;
  readonly #endpoints: EndpointService;
  readonly #deliveries: DeliveryLog;

  constructor(audit: AuditLog, endpoints: EndpointService, deliveries: DeliveryLog) {
    this.#audit = audit;
    this.#endpoints = endpoints;
    this.#deliveries = deliveries;
  }

  @RequiresPermission('partners:read')
  @Query(() => [WebhookEndpointType], { description: 'The webhook endpoints of a partner, oldest first.' })
  webhookEndpoints(
    @Arg('partnerId', () => ID, { description: 'The partner.' }) partnerId: string,
  ): Promise<WebhookEndpoint[]> {
    return this.#endpoints.list(partnerId);
  }

  @RequiresPermission('partners:read')
  @Query(() => [String], { description: 'The types of events that an endpoint can ask for.' })
  webhookEventTypes(): readonly string[] {
    return webhookEventTypes;
  }

  @RequiresPermission('partners:read')
  @FieldResolver(() => [WebhookDeliveryType], { description: 'Its newest deliveries of the last 30 days.' })
  async deliveries(
    @Root() endpoint: WebhookEndpoint,
    @Arg('first', () => Int, { defaultValue: 20, description: 'How many, at most 100.' }) first: number,
    @Arg('state', () => DeliveryStateEnum, { nullable: true, description: 'Only deliveries in this state.' })
    state: DeliveryState | null,
  ): Promise<readonly DeliveryView[]> {
    const limit = Math.max(1, Math.min(mostShown, first));
    return (await this.#deliveries.list(endpoint, { state: state ?? null, limit, cursor: null })).deliveries;
  }

  @RequiresPermission('partners:write')
  @Mutation(() => WebhookSecretType, { description: 'Creates an endpoint of a partner, and shows its secret once.' })
  webhookCreate(
    @Arg('partnerId', () => ID, { description: 'The partner.' }) partnerId: string,
    @Arg('endpoint', () => WebhookInput, { description: 'Its properties.' }) endpoint: WebhookInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<SecretOfEndpoint> {
    return this.#audit.act(context.actor, 'webhookCreate', reason, async (em) => {
      const { url } = endpoint;
      if (!url) {
        throw errorFromFaults([{ field: 'endpoint.url', kind: 'invalid_value', detail: 'a new endpoint needs a url' }]);
      }
      const made = await this.#endpoints.create(partnerId, { ...changesOf(endpoint), url }, em);
      return { result: made, target: `webhook:${made.endpoint.id}`, after: snapshot(made.endpoint) };
    });
  }

  @RequiresPermission('partners:write')
  @Mutation(() => WebhookEndpointType, { description: 'Changes, enables or disables an endpoint.' })
  webhookChange(
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
    @Arg('endpoint', () => WebhookInput, { description: 'Its new properties.' }) endpoint: WebhookInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<WebhookEndpoint> {
    return this.#audit.act(context.actor, 'webhookChange', reason, async (em) => {
      const before = snapshot(await this.#endpoints.get(null, id));
      const changed = await this.#endpoints.change(null, id, changesOf(endpoint), 'staff', em);
      return { result: changed, target: `webhook:${changed.id}`, before, after: snapshot(changed) };
    });
  }

  @RequiresPermission('partners:write')
  @Mutation(() => WebhookEndpointType, { description: 'Deletes an endpoint.' })
  webhookDelete(
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<WebhookEndpoint> {
    return this.#audit.act(context.actor, 'webhookDelete', reason, async (em) => {
      const known = await this.#endpoints.get(null, id);
      await this.#endpoints.delete(null, id, em);
      return { result: known, target: `webhook:${known.id}`, before: snapshot(known) };
    });
  }

  @RequiresPermission('partners:write')
  @Mutation(() => WebhookSecretType, { description: 'Makes a new signing secret, and shows it once.' })
  webhookRotateSecret(
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
    @Arg('hours', () => Int, { defaultValue: 24, description: 'Hours that the old secret signs too, 0 to 168.' })
    hours: number,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<SecretOfEndpoint> {
    return this.#audit.act(context.actor, 'webhookRotateSecret', reason, async (em) => {
      const names = { old_secret_hours: 'hours' };
      const rotated = await withInputNames(names, () => this.#endpoints.rotateSecret(null, id, hours, em));
      return {
        result: rotated,
        target: `webhook:${rotated.endpoint.id}`,
        after: { oldSecretUntil: rotated.endpoint.oldSecretUntil },
      };
    });
  }

  @RequiresPermission('partners:write')
  @Mutation(() => WebhookTestType, {
    description: 'Sends a test to an enabled endpoint: an event that is none. Its result is in the deliveries.',
  })
  webhookTest(
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<WebhookTestType> {
    return this.#audit.act(context.actor, 'webhookTest', reason, async (em) => {
      const { eventId } = await this.#endpoints.orderTest(null, id, em);
      return { result: { eventId }, target: `webhook:${id.toLowerCase()}`, after: { eventId } };
    });
  }

  @RequiresPermission('partners:write')
  @Mutation(() => WebhookReplayType, {
    description: 'Sends events of the last 30 days to an endpoint again. They keep their ids.',
  })
  webhookReplay(
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
    @Arg('eventIds', () => [String], { description: `Ids of events of its partner, at most ${mostShown}.` })
    eventIds: string[],
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<WebhookReplayType> {
    return this.#audit.act(context.actor, 'webhookReplay', reason, async (em) => {
      const endpoint = await this.#endpoints.get(null, id);
      const { count } = await this.#deliveries.replay(endpoint, { eventIds: checkedEvents(eventIds) }, em);
      if (count === 0) {
        const detail =
          'nothing can be sent again: the events wait already, are too old, were sent ten times again, or are of another partner';
        throw new AppError('action_not_possible', detail);
      }
      return { result: { count }, target: `webhook:${id.toLowerCase()}`, after: { eventIds, count } };
    });
  }
}

/** The events of a replay by staff: what a member has seen fail, one by one. */
function checkedEvents(eventIds: readonly string[]): readonly string[] {
  if (eventIds.length >= 1 && eventIds.length <= mostShown) return eventIds;
  const detail = `name 1 to ${mostShown} events`;
  throw errorFromFaults([{ field: 'eventIds', kind: 'invalid_value', detail }]);
}

function changesOf({ url, types, coinFrom, coinTo, amounts, status }: WebhookInput): EndpointChanges {
  return {
    ...(url ? { url } : {}),
    ...(types === undefined ? {} : { types }),
    ...(coinFrom === undefined ? {} : { coinFrom }),
    ...(coinTo === undefined ? {} : { coinTo }),
    ...(amounts ? { amounts } : {}),
    ...(status ? { status } : {}),
  };
}

/** What the audit log keeps of an endpoint: never its secret. */
function snapshot(endpoint: WebhookEndpoint): Record<string, unknown> {
  const { url, types, coinFrom, coinTo, amounts, status, disabledReason } = endpoint;
  return { partner: endpoint.partner.id, url, types, coinFrom, coinTo, amounts, status, disabledReason };
}
