import express, { type Express } from 'express';
import type { Config } from '../config.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Log } from '../log.ts';
import type { OrderService } from '../orders/order-service.ts';
import type { Authenticator } from '../partners/authenticator.ts';
import type { RateService } from '../rates/rate-service.ts';
import { apiRoot, createApi } from './api.ts';
import { jsonBody } from './body.ts';
import { readContract } from './contract.ts';
import { getCoinIconHandler, listCurrenciesHandler } from './currencies.ts';
import { docsRouter, getDocumentHandler } from './docs.ts';
import { errorHandler } from './error-handler.ts';
import { createOrderHandler, getOrderHandler } from './orders.ts';
import { RateLimit } from './rate-limit.ts';
import { getRateHandler } from './rates.ts';
import { httpsOnly, requestContext } from './request-context.ts';

export interface RestDependencies {
  readonly config: Config;
  readonly log: Log;
  readonly limiter: Limiter;
  readonly authenticator: Authenticator;
  readonly catalogue: CurrencyCatalogue;
  readonly rates: RateService;
  readonly orders: OrderService;
}

/**
 * The public listener: /api/v1 and nothing else. Each request goes through the same steps in the same order: id and
 * headers, HTTPS, key and limits, body, contract, handler, and on any failure the one error handler.
 */
export async function createRestApp(dependencies: RestDependencies): Promise<Express> {
  const { config, log, limiter, authenticator, catalogue, rates, orders } = dependencies;
  const document = readContract();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', config.TRUSTED_PROXIES.length > 0 ? [...config.TRUSTED_PROXIES] : false);
  app.use(requestContext(log));
  app.use(httpsOnly);
  app.use(new RateLimit(config, limiter, authenticator).handle);
  app.use(`${apiRoot}/docs`, docsRouter());
  app.use(jsonBody);
  app.use(
    await createApi(document, {
      listCurrencies: listCurrenciesHandler(catalogue),
      getCoinIcon: getCoinIconHandler(catalogue),
      getRate: getRateHandler(rates),
      createOrder: createOrderHandler(orders),
      getOrder: getOrderHandler(orders),
      getDocument: getDocumentHandler(document),
    }),
  );
  app.use(errorHandler(log));
  return app;
}
