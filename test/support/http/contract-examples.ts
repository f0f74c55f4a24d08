import type { Document } from 'openapi-backend';

/** An example of a request or an answer, as a contract has it. */
export interface Example {
  readonly id: string;
  /** The method in upper case, and the path with its parameters in braces. */
  readonly method: string;
  readonly path: string;
  readonly title: string;
  readonly value: unknown;
}

interface Part {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly content?: Readonly<Record<string, Part>>;
  readonly schema?: object;
  readonly value?: unknown;
  readonly examples?: Readonly<Record<string, Part>>;
}

export interface ContractOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Part[];
  readonly requestBody: Part | undefined;
  readonly responses: Readonly<Record<string, Part>>;
}

/** The examples of a contract. */
export class ContractExamples {
  readonly #document: Document;
  readonly operations: readonly ContractOperation[];

  constructor(document: Document) {
    this.#document = document;
    this.operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item as Record<string, ContractOperation>).map(([method, operation]) => ({
        ...operation,
        path,
        method: method.toUpperCase(),
        parameters: operation.parameters ?? [],
      })),
    );
  }

  /** The part of the contract that a part stands for. */
  resolve(part: Part | undefined): Part | undefined {
    if (part?.$ref === undefined) return part;
    const names = part.$ref.slice(2).split('/');
    return names.reduce((at, name) => at[name] as Record<string, unknown>, { ...this.#document } as Record<
      string,
      unknown
    >) as Part;
  }

  /** Each example of a request body. */
  bodies(): Example[] {
    return this.operations.flatMap((operation) =>
      this.#examplesOf(operation, this.jsonOf(operation.requestBody)?.examples),
    );
  }

  /** The JSON of a body or of an answer. */
  jsonOf(part: Part | undefined): Part | undefined {
    return this.resolve(part)?.content?.['application/json'];
  }

  /** The examples of a parameter, by its name. */
  examplesOf(part: Part): readonly unknown[] {
    return Object.values(part.examples ?? {}).map((example) => this.resolve(example)?.value);
  }

  /** The value of an example below `components`. */
  named(name: string): unknown {
    return this.resolve({ $ref: `#/components/examples/${name}` })?.value;
  }

  #examplesOf({ operationId: id, method, path }: ContractOperation, examples: Part['examples'] = {}): Example[] {
    return Object.entries(examples).map(([title, example]) => {
      return { id, method, path, title, value: this.resolve(example)?.value };
    });
  }
}
