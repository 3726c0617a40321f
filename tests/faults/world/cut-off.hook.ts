/**
 * A hook for `node --import` that cuts its process off from the ports in CUT_OFF_PORTS at SIGUSR2, and joins it again at the next:
 * open connections are reset, new ones fail.
 */
import { subscribe } from "node:diagnostics_channel";
import { type Socket } from "node:net";

const ports = new Set(process.env["CUT_OFF_PORTS"]?.split(",").map(Number));
const sockets = new Set<Socket>();
let isCut = false;

const reset = (socket: Socket): void => void socket.destroy(new Error("read ECONNRESET"));

subscribe("net.client.socket", (message) => {
  const { socket } = message as { readonly socket: Socket };
  socket.on("connectionAttempt", (_: string, port: number) => {
    if (!ports.has(port)) return;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // Node is still in the middle of the attempt.
    if (isCut) process.nextTick(reset, socket);
  });
});

process.on("SIGUSR2", () => {
  isCut = !isCut;
  if (isCut) for (const socket of sockets) reset(socket);
});
