/** What a span tells beside its name and time. Never a key, a body, an address or the values of a statement. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /**
   * `server` and `consumer` begin a trace, or go on with the one that `parent` names. What else there is, is recorded
   * within a trace only, so that what a worker does all the time makes none.
   */
  readonly kind: 'server' | 'consumer' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** The `traceparent` of whoever asked. https://www.w3.org/TR/trace-context/#traceparent-header */
  readonly parent?: string | undefined;
  /** The `traceparent`s of others that this work was done for. */
  readonly links?: readonly string[];
}

/** A span while its work goes on. */
export interface ActiveSpan {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the work as failed though it throws nothing. `type` is a word of ours or the name of an error's class. */
  fail(type: string): void;
}

/** What records spans. */
export interface Tracer {
  span<T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => T): T;
  /** The span in whose work this is called; null outside any. */
  active(): ActiveSpan | null;
  /** Names the active span for other processes; null outside any. */
  traceparent(): string | null;
}

/** Stands where nothing is recorded. */
export const silentSpan: ActiveSpan = { rename: () => {}, set: () => {}, fail: () => {} };

/** One for the process, as what happens in it is one story. */
let tracer: Tracer | null = null;

/** Whether spans are recorded at all, for whoever would have to prepare something for them. */
export function isTracing(): boolean {
  return tracer !== null;
}

/** Records spans from now on; null ends it. Only what opens and closes tracing calls this. */
export function useTracer(next: Tracer | null): void {
  tracer = next;
}

/** Does some work within a span, which ends with it and tells when it fails. Without tracing it is the work alone. */
export function span<T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => T): T {
  return tracer ? tracer.span(name, options, work) : work(silentSpan);
}

/** Adds to the span in whose work this is called. */
export function annotate(attributes: SpanAttributes): void {
  tracer?.active()?.set(attributes);
}

/** Names the active span for other processes and for jobs; null when there is none. */
export function traceparent(): string | null {
  return tracer?.traceparent() ?? null;
}

/** The same object, each of whose methods is a span `<name> <method>`. The object itself when nothing is traced. */
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
