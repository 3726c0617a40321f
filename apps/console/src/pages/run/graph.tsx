/** The steps of a run as a graph. */
import {
  Background,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type Run } from "@posthaste/client/api";
import { durationOf, shown } from "../../api/text.ts";
import { State } from "../../parts/text.tsx";
import { errorWordsOf } from "../../rules/attempt-error.ts";
import { type GraphNode, graphOf } from "../../rules/graph.ts";
import { stepStates } from "../states.tsx";

const columnWidth = 230;
const rowHeight = 96;

type StepNode = Node<{ readonly node: GraphNode; readonly choose: (key: string) => void }, "step">;

type Props = {
  readonly run: Run;
  readonly chosen: string | undefined;
  readonly choose: (key: string) => void;
};

const nodeTypes = { step: StepNodeView };

export function RunGraph({ run, chosen, choose }: Props) {
  const graph = graphOf(run, Date.now());
  const nodes = graph.nodes.map((node): StepNode => ({
    id: node.id,
    type: "step",
    position: { x: node.column * columnWidth, y: node.place * rowHeight },
    data: { node, choose },
    selected: node.id === chosen,
    draggable: false,
    focusable: false,
  }));
  const edges = graph.edges.map(([source, target]): Edge => ({
    id: `${source}-${target}`,
    source,
    target,
    focusable: false,
  }));
  return (
    <section className="panel graph" aria-label="Graph of the run">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        nodesConnectable={false}
        edgesFocusable={false}
        onlyRenderVisibleElements
        fitView
        fitViewOptions={{ maxZoom: 1, minZoom: 0.5 }}
        minZoom={0.1}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}

function StepNodeView({ data: { node, choose } }: NodeProps<StepNode>) {
  const { row, left } = node;
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {row === undefined ? (
        <div className="graph-node">{left} more steps</div>
      ) : (
        <button
          type="button"
          className={`graph-node nodrag ${stepStates[row.state][0]}`}
          onClick={() => choose(row.key)}
        >
          <span className="name">{shown(row.name, 60)}</span>
          <span className="line">
            <State tone={stepStates[row.state][0]}>{stepStates[row.state][1]}</State>{" "}
            <span className="muted">{durationOf(row.to - row.from)}</span>
          </span>
          {row.lastError !== undefined && (
            <span className="why">{shown(errorWordsOf(row.lastError), 60)}</span>
          )}
        </button>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}
