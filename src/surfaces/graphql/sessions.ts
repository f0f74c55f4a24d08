import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from 'type-graphql';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import type { StaffSession } from '../../accounts/staff/staff-session.entity.ts';
import { openSessionsOf } from '../../accounts/staff/staff-sessions.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { GraphqlContext } from './server/context.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission } from './server/requires-permission.ts';
import { DateTime } from './server/scalars.ts';

const SignInKindEnum = { TOKEN: 'token', OIDC: 'oidc' } as const;
registerEnumType(SignInKindEnum, {
  name: 'SignInKind',
  description: 'How a member proved the identity.',
  valuesConfig: {
    TOKEN: { description: 'By a token of this gateway.' },
    OIDC: { description: 'At the identity provider.' },
  },
});

@ObjectType('StaffSession', { description: 'A browser in which the member is signed in.' })
class StaffSessionType {
  @Field(() => ID, { description: 'Id of the session.' })
  id!: string;

  @Field(() => SignInKindEnum, { description: 'How the member signed in.' })
  via!: StaffSession['via'];

  @Field(() => DateTime, { description: 'When the member signed in.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last used, to the minute.' })
  lastSeenAt!: Date;

  @Field(() => DateTime, { description: 'When it ends, even while it is used.' })
  expiresAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was ended; null for an open session.' })
  endedAt!: Date | null;
}

@Resolver(() => StaffSessionType)
export class SessionResolver {
  readonly #audit: AuditLog;
  readonly #clock: Clock;

  constructor(audit: AuditLog, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  @RequiresPermission('self:read')
  @Query(() => [StaffSessionType], { description: "The member's own open sessions, the newest first, at most 10." })
  sessions(@Ctx() { em, caller }: GraphqlContext): Promise<StaffSession[]> {
    return openSessionsOf(em, caller.id, this.#clock.now());
  }

  @RequiresPermission('self:sessions')
  @Mutation(() => StaffSessionType, {
    description: "Ends one of the member's own open sessions. Its next request is refused.",
  })
  sessionEnd(
    @Arg('id', () => ID, { description: 'The session.' }) id: string,
    @ReasonArg() reason: string,
    @Ctx() { actor, caller }: GraphqlContext,
  ): Promise<StaffSession> {
    return this.#audit.act(actor, 'sessionEnd', reason, async (em) => {
      const now = this.#clock.now();
      const session = (await openSessionsOf(em, caller.id, now)).find((open) => open.id === id.toLowerCase());
      if (!session) throw new AppError('invalid_value', 'no open session of yours has this id');
      session.endedAt = now;
      return { result: session, target: `staff:${caller.id}`, after: { session: session.id, endedAt: now } };
    });
  }

  @FieldResolver(() => Boolean, { description: 'Whether this request came with it.' })
  isCurrent(@Root() { id }: StaffSession, @Ctx() { caller }: GraphqlContext): boolean {
    return id === caller.sessionId;
  }
}
