/**
 * Attributes of a span, besides its name and time. Never a key, a body, an address or the values of
 * a statement.
 */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /**
   * `server` and `consumer` begin a trace, or continue the one that `parent` names. The other kinds
   * are recorded within a trace only, so that the polls of a worker make no traces.
   */
  readonly kind: 'server' | 'consumer' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** The `traceparent` of the caller. https://www.w3.org/TR/trace-context/#traceparent-header */
  readonly parent?: string | undefined;
  /** The `traceparent`s of other traces that this work was done for. */
  readonly links?: readonly string[];
}

/** A span while its work runs. */
export interface ActiveSpan {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /**
   * Marks the work as failed although it does not throw. `type` is a fixed word or the name of an
   * error's class.
   */
  fail(type: string): void;
}

/** Records spans. */
interface Tracer {
  span<T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => T): T;
  /** The span of the calling work; null outside any. */
  active(): ActiveSpan | null;
  /** The active span's id for other processes; null outside any. */
  traceparent(): string | null;
}

/** Used where nothing is recorded. */
export const silentSpan: ActiveSpan = { rename: () => {}, set: () => {}, fail: () => {} };

/** One tracer for the process, because all its work belongs to the same traces. */
let tracer: Tracer | null = null;

/** Whether spans are recorded, for callers that would have to prepare attributes. */
export function isTracing(): boolean {
  return tracer !== null;
}

/** Sets the tracer; null ends tracing. Only the code that opens and closes tracing calls this. */
export function useTracer(next: Tracer | null): void {
  tracer = next;
}

/**
 * Runs some work within a span, which ends with the work and records its failure. Without tracing
 * it runs the work alone.
 */
export function span<T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => T): T {
  return tracer ? tracer.span(name, options, work) : work(silentSpan);
}

/** Adds attributes to the span of the calling work. */
export function annotate(attributes: SpanAttributes): void {
  tracer?.active()?.set(attributes);
}

/** The active span's `traceparent` for other processes and for jobs; null when there is none. */
export function traceparent(): string | null {
  return tracer?.traceparent() ?? null;
}

/**
 * Wraps an object so that each call of a method is a span `<name> <method>`. Returns the object
 * itself when tracing is off.
 */
export function traced<Port extends object>(port: Port, name: string, attributes: SpanAttributes = {}): Port {
  if (!tracer) return port;
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      return (...given: unknown[]) =>
        span(`${name} ${property}`, { kind: 'client', attributes }, () => Reflect.apply(value, target, given));
    },
  });
}
