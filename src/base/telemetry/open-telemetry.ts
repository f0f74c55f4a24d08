import {
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type ActiveSpan, type SpanOptions, silentSpan, useTracer } from './tracing.ts';

interface OpenTelemetryOptions {
  /** Address of an OpenTelemetry collector for OTLP over HTTP: http://127.0.0.1:4318. */
  readonly endpoint: string;
  /** The fraction of traces that is recorded, from 0 to 1. */
  readonly ratio: number;
  readonly role: string;
}

const kinds: Record<SpanOptions['kind'], SpanKind> = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

const propagator = new W3CTraceContextPropagator();
/**
 * Limit of the spans that wait to be sent. Further spans are dropped, so that no work waits for the
 * collector.
 */
const mostWaiting = 8_192;
const exportMs = 5_000;

/** Records spans and sends them to a collector. Closing it sends the remaining spans. */
export function openTracing({ endpoint, ratio, role }: OpenTelemetryOptions): { close(): Promise<void> } {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces`, timeoutMillis: exportMs });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'exchange-partner-gateway', 'gateway.role': role }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: mostWaiting, exportTimeoutMillis: exportMs })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  const tracer = provider.getTracer('gateway');
  useTracer({
    span: (name, { kind, attributes = {}, parent, links = [] }, work) => {
      const begins = kind === 'server' || kind === 'consumer';
      const around = begins ? contextOf(parent) : context.active();
      if (!begins && !trace.getSpan(around)) return work(silentSpan);
      const opened = tracer.startSpan(name, { kind: kinds[kind], attributes, links: links.flatMap(linkTo) }, around);
      return context.with(trace.setSpan(around, opened), () => ended(opened, () => work(activeSpan(opened))));
    },
    active: () => {
      const found = trace.getActiveSpan();
      return found ? activeSpan(found) : null;
    },
    traceparent: () => {
      const carrier: Record<string, string> = {};
      propagator.inject(context.active(), carrier, defaultTextMapSetter);
      return carrier.traceparent ?? null;
    },
  });
  return {
    close: async () => {
      useTracer(null);
      context.disable();
      // An unreachable collector must not keep the process alive.
      await provider.shutdown().catch(() => {});
    },
  };
}

function activeSpan(opened: Span): ActiveSpan {
  return {
    rename: (name) => opened.updateName(name),
    set: (attributes) => opened.setAttributes(attributes),
    fail: (type) => markFailed(opened, type),
  };
}

/** Records the class only, because the message of an error may carry values. */
function markFailed(opened: Span, type: string): void {
  opened.setAttribute('error.type', type);
  opened.setStatus({ code: SpanStatusCode.ERROR });
}

function ended<T>(opened: Span, work: () => T): T {
  const fail = (error: unknown): never => {
    markFailed(opened, error instanceof Error ? error.name : typeof error);
    opened.end();
    throw error;
  };
  let result: T;
  try {
    result = work();
  } catch (error) {
    return fail(error);
  }
  if (result instanceof Promise) {
    return result.then((value) => {
      opened.end();
      return value;
    }, fail) as T;
  }
  opened.end();
  return result;
}

function contextOf(parent: string | undefined) {
  if (parent === undefined) return ROOT_CONTEXT;
  return propagator.extract(ROOT_CONTEXT, { traceparent: parent }, defaultTextMapGetter);
}

function linkTo(parent: string): Link[] {
  const spanContext = trace.getSpanContext(contextOf(parent));
  return spanContext ? [{ context: spanContext }] : [];
}
