import type { NewGauge } from './gateway-figures.ts';

const figures = {
  process_resident_memory_bytes: 'Memory of each process of the platform, by the jobs that it runs',
  process_event_loop_delay_seconds:
    'Longest delay of the event loop of a process in the last half to one minute',
};

/** Adds the figures of each process apart. A process that has ended is left out after some seconds. */
export function addProcesses(newGauge: NewGauge, gauges: Record<string, number>): void {
  for (const [name, help] of Object.entries(figures)) {
    const gauge = newGauge(name, help, ['type', 'id']);
    for (const [key, value] of Object.entries(gauges)) {
      const [, base, type, id] = /^(\w+)\{type="([^"]*)",id="([^"]*)"\}$/.exec(key) ?? [];
      if (base === name) gauge.set({ type: type!, id: id! }, value);
    }
  }
}
