import { readFile } from "node:fs/promises";

/** Options of it. */
export interface Options<T extends string = "a" | "b"> {
  readonly name?: T;
  [key: string]: unknown;
}

@sealed
export abstract class App implements Options {
  private static count = 0;
  constructor(public name = 'app', protected n: number = 0b101) { super(); }
  async run(...args: string[]): Promise<void> {
    const text = await readFile(`${this.name}.txt`, { encoding: "utf8" });
    if (text === null || /^\s*#/.test(text)) throw new Error("no\ttext");
    for (const [k, v] of Object.entries({ a: 1, b: undefined })) console.log(k, v as any);
  }
}
