// A network that can fail: connections to the server go through it, and can all be cut.
import net from 'node:net';

export async function openProxy({ hostname, port }) {
  const pairs = new Set();
  let release = null;
  let mended = Promise.resolve();
  const server = net.createServer(async (client) => {
    client.on('error', () => {});
    await mended;
    const upstream = net.connect(port, hostname);
    const pair = [client, upstream];
    pairs.add(pair);
    for (const [one, other] of [pair, [upstream, client]]) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    cut() {
      mended = new Promise((resolve) => (release = resolve));
      for (const pair of pairs) pair.forEach((socket) => socket.destroy());
    },
    mend: () => release(),
  };
}
