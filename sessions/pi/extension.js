// Umbra's extension for pi. "umbra hooks install pi" writes it anew, "umbra hooks uninstall
// pi" takes it out; lines before and after it stay.
//
// It tells Umbra of each event, and waits for it before a prompt and before a tool. Whatever
// goes wrong here, pi goes on.
import { spawn } from "node:child_process"

const hook = "@hook@"

const server = null

// call runs Umbra's hook with an event and returns what it has to say.
const call = (event, patience) =>
  new Promise((resolve) => {
    try {
      const child = spawn("/bin/sh", ["-c", hook], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => {
        child.kill("SIGKILL")
        resolve({})
      }, patience)
      let out = ""
      child.stdout.on("data", (chunk) => (out += chunk))
      child.stdin.on("error", () => {})
      child.on("error", () => resolve({}))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(out))
        } catch {
          resolve({})
        }
      })
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve({})
    }
  })

export default function umbra(pi) {
  if (server) {
    try {
      pi.registerMcpServer("umbra", { command: server[0], args: server.slice(1), exposure: "direct" })
    } catch {} // its user has one of that name
  }

  // Installed, and given to one launch: one of them speaks.
  const mark = Symbol.for("umbra")
  const self = import.meta.url.split("?")[0]
  if ((globalThis[mark] ??= self) !== self) return

  let last = Promise.resolve()

  // inOrder lets one thing be told after the other.
  const inOrder = (tell) => {
    const done = last.then(tell).catch(() => ({}))
    last = done
    return done
  }

  const tell = (name, ctx, fields, patience = 5000) => {
    const of = ctx.sessionManager // which is another one once the session is
    const event = { hook_event_name: name, session_id: of.getSessionId(), transcript_path: of.getSessionFile(), cwd: ctx.cwd, pid: process.pid, headless: !ctx.hasUI, ...fields }
    return inOrder(() => call(event, patience))
  }

  let context // what Umbra adds to the prompt that is being sent
  let failed // what the model's service said to the last answer

  // on hears of an event; what goes wrong in hearing it is no matter of pi's.
  const on = (name, hear) =>
    pi.on(name, async (event, ctx) => {
      try {
        return await hear(event, ctx)
      } catch {}
    })

  const sources = { new: "clear", resume: "resume", fork: "fork" }

  on("session_start", async ({ reason }, ctx) => {
    if (reason === "reload") return
    const talked = ctx.sessionManager.getEntries().some((e) => e.type === "message" && e.message.role === "user")
    await tell("SessionStart", ctx, { source: sources[reason] ?? (talked ? "resume" : "startup") })
  })

  on("input", async ({ text, source }, ctx) => {
    if (source === "extension") return
    const answer = await tell("UserPromptSubmit", ctx, { prompt: text }, 15000)
    if (!answer.block) {
      context = answer.context
      return
    }
    if (ctx.hasUI) ctx.ui.notify(answer.block, "info")
    else console.error(answer.block)
    return { action: "handled" }
  })

  on("before_agent_start", async () => {
    const content = context
    context = undefined
    // It follows the prompt as a message of the user's: the tags tell the model that it is none.
    if (content) return { message: { customType: "umbra", content: `<system-reminder>\n${content}\n</system-reminder>`, display: true } }
  })

  on("tool_call", async ({ toolName, toolCallId, input }, ctx) => {
    const answer = await tell("PreToolUse", ctx, { tool_name: toolName, tool_input: input, tool_use_id: toolCallId })
    if (answer.block) return { block: true, reason: answer.block }
  })

  on("tool_result", async ({ toolName, toolCallId, input }, ctx) => {
    tell("PostToolUse", ctx, { tool_name: toolName, tool_input: input, tool_use_id: toolCallId })
  })

  on("turn_end", async ({ message, toolResults }, ctx) => {
    failed = message?.stopReason === "error" ? message.errorMessage || "the answer failed" : undefined
    if (toolResults?.length) tell("PostToolBatch", ctx, {})
  })

  on("agent_settled", async ({ aborted }, ctx) => {
    if (failed) await tell("StopFailure", ctx, { error: failed })
    else await tell("Stop", ctx, { stopped: aborted })
    failed = undefined
  })

  let questions = 0

  on("ui_prompt_start", async ({ kind, title }, ctx) => {
    tell("PermissionRequest", ctx, { tool_name: kind, tool_input: { description: title }, tool_use_id: "question " + ++questions })
  })

  on("ui_prompt_end", async (_, ctx) => {
    tell("PermissionReplied", ctx, { tool_use_id: "question " + questions })
  })

  on("session_shutdown", async ({ reason }, ctx) => {
    if (reason !== "reload") await tell("SessionEnd", ctx, { reason })
  })
}
