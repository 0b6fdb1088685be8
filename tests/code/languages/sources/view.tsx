export default function View({ name }: Props) {
  return <Panel<string> title={name} />;
}

export const useName = (a: string) => read<string>(a);
