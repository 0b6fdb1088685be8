import type { Order } from './order';
import legacy = require("legacy");
export type { Order } from './order';

/** Keep orders. */
@Injectable()
export class Orders<T> implements Store {
  static readonly MOST = 3;
  private handler = (): void => { this.log!.write(); };
  constructor(private readonly log: Log) { super(); }
  /** Read one. */
  @Get('/:id')
  async read(id: number): Promise<T> { return new Reader<T>(id).all(); }
  /** Write one. */
  @Post() write(id: number): void {}
}

export abstract class Base { protected abstract id(): string; }
export interface Reader extends Base { all(): Order[]; readonly size: number }
export const enum State { Open, Closed }
export type Id = string | number;
namespace Shop.Money { export const RATE = 1; export function round(a: number) {} }
declare function external(a: number): string;

function parse(a: string): number;
function parse(a: any) { return <number>a; }
export const identity = <T>(a: T): T => a;
