import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { expressMiddleware } from '@as-integrations/express5';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { StaffCaller } from '../../../accounts/staff/staff-authenticator.ts';
import { AppError, errorTable } from '../../../base/errors.ts';
import { addressPrefix } from '../../../base/limits/client-address.ts';
import { errorMembers, type Log } from '../../../base/log.ts';
import { GraphqlContext } from './context.ts';
import { refusalBehind } from './errors.ts';
import { graphqlError, operationLimits, refuseUnsafeOperation, validationRules } from './limits.ts';
import { countFailure, countOperation, publicError, type StaffApiOptions } from './operation.ts';

/**
 * Authenticates callers, on HTTP and at the upgrade to a WebSocket. A check that is no activity
 * does not extend the session.
 */
export interface StaffAuthentication {
  readonly caller: (req: IncomingMessage, isActivity?: boolean) => Promise<StaffCaller | null>;
  /** Whether a page of this gateway sent the request. Checked for callers with a session cookie. */
  readonly isSameOrigin: (req: IncomingMessage) => boolean;
  /** The address of a request's client, at the upgrade to a WebSocket. */
  readonly clientAddress: (req: IncomingMessage) => string;
  readonly failuresPerMin: number;
}

const bodyLimit = '100kb';

/**
 * Answers POST /graphql. A page that polls sends the header X-Background, so that such
 * requests do not extend the session.
 */
export async function createHttpHandler(
  options: StaffApiOptions,
  authentication: StaffAuthentication,
): Promise<{ handler: RequestHandler; stop: () => Promise<void> }> {
  const { schema, sources, log } = options;
  const apollo = new ApolloServer<GraphqlContext>({
    schema,
    introspection: true,
    includeStacktraceInErrorResponses: false,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: operationLimits.tokens },
    validationRules: [...validationRules],
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginCacheControlDisabled(),
      // Turns off Apollo's reports to its vendor, also when the environment configures them.
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      costLimit,
      namedAnswers,
    ],
    formatError: (formatted, error) => publicError(log, currentRequest.getStore() ?? 'none', formatted, error),
  });
  await apollo.start();

  const router = express.Router();
  router.use(async (req, res, next) => {
    if (req.method !== 'POST') {
      throw new AppError('method_not_allowed', 'the staff API is asked by POST', { allow: ['POST'] });
    }
    const caller = await authentication.caller(req, req.headers['x-background'] === undefined);
    if (!caller) {
      await countFailure(options, res.locals.clientAddress, authentication.failuresPerMin);
      throw new AppError('unauthorized', 'sign in at /sign-in, or send a staff token: Authorization: Bearer xs_...');
    }
    if (caller.via === 'session' && !authentication.isSameOrigin(req)) {
      throw new AppError('foreign_origin', 'a browser session may send requests from pages of this gateway only');
    }
    await countOperation(options, caller);
    res.locals.staff = caller;
    next();
  });
  router.use(express.json({ limit: bodyLimit, inflate: false }));
  router.use((_req, res, next) => currentRequest.run(res.locals.requestId, next));
  router.use(
    expressMiddleware(apollo, {
      context: async ({ res }) =>
        new GraphqlContext(sources, {
          caller: res.locals.staff as StaffCaller,
          requestId: res.locals.requestId,
          ip: addressPrefix(res.locals.clientAddress),
        }),
    }),
  );
  router.use(refusalHandler(log));
  return { handler: router, stop: () => apollo.stop() };
}

/** Id of the current request, for errors that are formatted far from it. */
const currentRequest = new AsyncLocalStorage<string>();

/** Refuses an operation that could cost too much, before it runs. */
const costLimit: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ schema, document, operation, request: { operationName, variables } }) => {
      try {
        if (operation?.operation === 'subscription') {
          throw new AppError('invalid_request', 'subscriptions run over WebSocket, at this path');
        }
        refuseUnsafeOperation(schema, document, operationName, variables ?? {});
      } catch (error) {
        throw error instanceof AppError ? graphqlError(error) : error;
      }
    },
  }),
};

/** Adds the request id to each answer, so that people can quote it. */
const namedAnswers: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ response: { body }, contextValue: { requestId } }) => {
      if (body.kind === 'single') body.singleResult.extensions = { request_id: requestId };
    },
  }),
};

/** Answers a refusal that came before GraphQL, in the form of a GraphQL error. */
function refusalHandler(log: Log) {
  return (thrown: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const { requestId } = res.locals;
    const error = refusalBehind(thrown) ?? bodyFault(thrown);
    if (!error) {
      log.error({ event: 'graphql_failed', request_id: requestId, ...errorMembers(thrown) }, 'a request failed');
    }
    const { kind, detail, extras } = error ?? new AppError('internal_error', 'something went wrong on our side; retry');
    if (extras.retryAfterSec !== undefined) res.set('Retry-After', String(extras.retryAfterSec));
    if (extras.allow) res.set('Allow', extras.allow.join(', '));
    if (kind === 'unauthorized') res.set('WWW-Authenticate', 'Bearer');
    res.status(errorTable[kind].status).json({
      errors: [{ message: detail, extensions: { code: errorTable[kind].graphql, kind, request_id: requestId } }],
    });
  };
}

/** The error for each fault type of body-parser: https://github.com/expressjs/body-parser#errors */
function bodyFault(thrown: unknown): AppError | null {
  const type = thrown instanceof Error && 'type' in thrown ? thrown.type : null;
  if (type === 'entity.too.large') return new AppError('body_too_large', `the body is larger than ${bodyLimit}`);
  if (type === 'encoding.unsupported') return new AppError('unsupported_media_type', 'the body must not be compressed');
  return type === null ? null : new AppError('invalid_json', 'the body is not valid JSON');
}
