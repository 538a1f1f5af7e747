// Umbra's plugin for OpenCode. "umbra hooks install opencode" writes it anew,
// "umbra hooks uninstall opencode" takes it out; lines before and after it stay.
//
// OpenCode keeps conversations in a database. This plugin writes what is said
// to a file of lines, which Umbra follows: umbra/SESSION.jsonl in OpenCode's data
// directory, and umbra/SESSION/SUBAGENT.jsonl what its subagents say. It tells
// Umbra of each event, and waits for it before a prompt and before a tool. Whatever
// goes wrong here, OpenCode goes on.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { appendFileSync, mkdirSync, readFileSync, statSync, utimesSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"

const hook = "@hook@"
const server = null

const data = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode", "umbra")

// A value of the conversation is written once, and again when it has changed:
// the order of its members is none of its own.
const digest = (value) => createHash("sha1").update(JSON.stringify(ordered(value))).digest("base64")

const ordered = (value) => {
  if (Array.isArray(value)) return value.map(ordered)
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, ordered(value[key])]))
}

// fileOf is where a session is written; root is the one that it is a subagent of.
const fileOf = (id, root) => (root ? join(data, root.id, id + ".jsonl") : join(data, id + ".jsonl"))

// followed reports whether all that was said in a session is in its file.
const followed = (info, root) => {
  try {
    return statSync(fileOf(info.id, root)).mtimeMs >= info.time.updated
  } catch {
    return false
  }
}

class Session {
  constructor(info, root) {
    this.id = info.id
    this.root = root ?? this
    this.file = fileOf(info.id, root)
    this.written = new Map() // key of a line to its digest
    this.whole = true // is the last answer: nothing of it comes any more
    let text = ""
    try {
      text = readFileSync(this.file, "utf8")
    } catch {}
    for (const line of text.split("\n")) {
      try {
        const value = JSON.parse(line)
        if (value.type === "message" || value.type === "part") this.works = true
        if (value.type === "idle") {
          this.works = false
          continue
        }
        if (value.type === "removed") this.written.delete(value.id)
        else this.written.set(this.key(value), digest(value.value))
      } catch {}
    }
    this.pending = text !== "" && !text.endsWith("\n") ? "\n" : "" // ends a line that was torn
  }

  key(value) {
    return value.type === "session" ? "session" : value.value.id
  }

  put(type, value) {
    value = JSON.parse(JSON.stringify(value)) // as it will be read
    const key = this.key({ type, value })
    const now = digest(value)
    if (this.written.get(key) === now) return
    this.append(JSON.stringify({ type, session: this.id, value }))
    this.written.set(key, now)
    if (type !== "session") this.said = true
  }

  remove(id) {
    if (!this.written.delete(id)) return
    this.append(JSON.stringify({ type: "removed", session: this.id, id }))
  }

  append(line) {
    this.pending += line + "\n"
    if (!this.gathering) this.flush()
  }

  flush() {
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 })
    appendFileSync(this.file, this.pending, { mode: 0o600 })
    this.pending = ""
  }

  // begin notes the prompt of a turn; one that is typed ahead goes into the turn that runs.
  begin(id) {
    if (this.turn) return false
    this.turn = id
    this.said = true // since the last end
    this.whole = true
    this.fail()
    return true
  }

  idle() {
    this.turn = undefined
    this.said = false
    this.append(JSON.stringify({ type: "idle", session: this.id }))
  }

  info(info) {
    const { id, slug, parentID, directory, title, agent, model, permission, revert, version, time } = info
    this.put("session", { id, slug, parentID, directory, title, agent, model, permission, revert, version, time: { created: time.created } })
  }

  message(info) {
    if (info.role === "assistant" && !(info.id < this.answer)) {
      if (info.error || info.id !== this.answer) this.fail(info.error)
      this.answer = info.id
      this.whole = Boolean(info.time.completed)
    }
    const { summary, ...rest } = info // whole diffs, again with each step
    this.put("message", info.role === "assistant" ? info : rest)
  }

  // fail notes the error that the turn ends in; none where its user has stopped it.
  fail(error) {
    this.failed = error?.name === "MessageAbortedError" ? undefined : error
  }

  part(part) {
    // OpenCode's own snapshots belong to one directory: to undo by them in
    // another would delete its files.
    if (part.type === "patch" || part.type === "snapshot") return
    const { snapshot, ...plain } = part
    part = plain
    const status = part.state?.status
    if (part.type === "tool" && status === "pending") return
    if (part.type === "tool" && status === "running") {
      const { metadata, ...state } = part.state // what it has printed so far
      part = { ...part, state }
    }
    if (part.type === "reasoning" && !part.time?.end) return
    if (part.type === "text" && part.time && !part.time.end) return
    this.put("part", part)
  }

  // sync writes what was said while nobody followed, all at once.
  sync(info, messages) {
    this.gathering = true
    this.info(info)
    const there = new Set(["session"])
    if (this.works && this.root === this) this.idle() // it was left, or killed, in a turn
    let left // in a turn, as an answer tells that was never whole
    for (const { info, parts } of messages) {
      there.add(info.id)
      if (left && info.role === "user" && !this.written.has(info.id)) this.idle()
      left = info.role === "assistant" && !info.time.completed
      // As it came: an answer that has ended stands behind what it is made of.
      if (!this.written.has(info.id)) this.message({ ...info, time: { created: info.time.created } })
      for (const part of parts) {
        there.add(part.id)
        this.part(part)
      }
      this.message(info)
    }
    for (const id of [...this.written.keys()]) if (!there.has(id)) this.remove(id)
    this.gathering = false
    if (this.pending) this.flush()
    const now = new Date()
    utimesSync(this.file, now, now) // by which it is known that nothing more was said
  }
}

// call runs Umbra's hook with an event and returns what it has to say.
const call = (event, patience) =>
  new Promise((resolve) => {
    try {
      const child = spawn("/bin/sh", ["-c", hook], { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, OPENCODE_PID: String(process.pid) } })
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

const newPartID = () => {
  const random = createHash("sha1").update(String(Math.random())).digest("hex").slice(0, 14)
  return "prt_" + ((BigInt(Date.now()) * 4096n) & 0xffffffffffffn).toString(16).padStart(12, "0") + random
}

export const Umbra = async ({ client, directory }) => {
  // Installed, and given to one launch: one of them speaks.
  const mark = Symbol.for("umbra")
  const self = import.meta.url.split("?")[0]
  if ((globalThis[mark] ??= self) !== self) return {}

  const headless = process.argv.includes("run")
  const sessions = new Map() // of this process: id to a promise of a Session
  let current // the session that is spoken in
  let last = Promise.resolve()

  // inOrder lets one thing be told after the other.
  const inOrder = (tell) => {
    const done = last.then(tell).catch(() => ({}))
    last = done
    return done
  }

  const open = (id) => {
    if (!sessions.has(id)) {
      sessions.set(id, find(id).catch((error) => {
        sessions.delete(id)
        throw error
      }))
    }
    return sessions.get(id)
  }

  const find = async (id) => {
    const { data: info } = await client.session.get({ path: { id } })
    const root = info.parentID && (await open(info.parentID)).root
    const session = await read(info, root)
    if (!root) await catchUp([info], session, 1000)
    return session
  }

  const read = async (info, root) => {
    const { data: messages } = await client.session.messages({ path: { id: info.id } })
    const session = new Session(info, root)
    session.fresh = messages.length === 0
    session.sync(info, messages)
    return session
  }

  // catchUp writes what subagents said while nobody followed, as far as that takes
  // so many milliseconds; the rest when what waits to be told has been.
  const catchUp = async (todo, root, patience) => {
    const until = Date.now() + patience
    while (todo.length > 0 && Date.now() < until) {
      const info = todo.pop()
      try {
        if (!sessions.has(info.id) && !followed(info, root)) await read(info, root)
        todo.push(...(await client.session.children({ path: { id: info.id } })).data)
      } catch {} // the others are written all the same
    }
    if (todo.length > 0) inOrder(() => catchUp(todo, root, 200))
  }

  // root is the session of the person at it; agent says which subagent speaks.
  const root = async (id) => {
    const session = await open(id)
    return { session: session.root, agent: session.root === session ? undefined : id }
  }

  const tell = async (name, id, fields, patience = 5000) => {
    const { session, agent } = await root(id)
    // A session that its user has left in the middle of a turn goes on beside.
    if (!agent && session.id !== current && (!current || name === "UserPromptSubmit")) {
      current = session.id
      await tell("SessionStart", id, { source: session.fresh ? "startup" : "resume" })
    }
    return call({ hook_event_name: name, session_id: session.id, transcript_path: session.file, cwd: directory, agent_id: agent, pid: process.pid, headless, ...fields }, patience)
  }

  const endings = new Map() // of turns: session to the timer that tells it

  // ended tells that a turn has, once.
  const ended = async (session) => {
    clearTimeout(endings.get(session))
    endings.delete(session)
    if (!session.said) return
    session.idle()
    const { failed } = session
    if (failed) await tell("StopFailure", session.id, { error: failed.data?.message || failed.name })
    else await tell("Stop", session.id, {})
  }

  const overdue = async (session) => {
    if (endings.has(session)) await ended(session)
  }

  const write = async (id, put) => put(await open(id))

  const questions = new Map() // that are open: id to that of the call they are about

  const ask = ({ id, sessionID, tool }, name, input) => {
    questions.set(id, tool?.callID ?? id)
    return tell("PermissionRequest", sessionID, { tool_name: name, tool_input: input, tool_use_id: questions.get(id) })
  }

  const answered = ({ sessionID, requestID }) => {
    const id = questions.get(requestID) ?? requestID
    questions.delete(requestID)
    return tell("PermissionReplied", sessionID, { tool_use_id: id })
  }

  const events = {
    "session.updated": ({ info }) => sessions.has(info.id) && write(info.id, (s) => s.info(info)),
    "message.updated": ({ info }) => write(info.sessionID, (s) => s.message(info)),
    "message.removed": ({ sessionID, messageID }) => write(sessionID, (s) => s.remove(messageID)),
    "message.part.updated": ({ part }) => write(part.sessionID, (s) => s.part(part)),
    "message.part.removed": ({ sessionID, partID }) => write(sessionID, (s) => s.remove(partID)),
    "permission.asked": ({ permission, metadata, patterns, ...asked }) => ask(asked, permission, { ...metadata, path: patterns?.[0] }),
    "permission.replied": answered,
    "question.asked": ({ questions, ...asked }) => ask(asked, "question", { questions }),
    "question.replied": answered,
    "question.rejected": answered,
    // Told before the session is idle, and again with its last message after that.
    "session.error": async ({ sessionID, error }) => {
      if (!sessionID) return
      const { agent, session } = await root(sessionID)
      if (!agent) session.fail(error)
    },
    "session.idle": async ({ sessionID }) => {
      const { agent, session } = await root(sessionID)
      if (agent) return
      // Where its user stops it or the model's API refuses, OpenCode is idle before
      // its answer is whole, and again when it is, a moment later.
      if (session.whole) await ended(session)
      else if (!endings.has(session)) endings.set(session, setTimeout(() => inOrder(() => overdue(session)), 2000))
    },
  }

  return {
    config: async (config) => {
      // A server of the user's, or of this launch, that has the name stays as it is.
      if (server) config.mcp = { umbra: { type: "local", command: server }, ...config.mcp }
    },
    event: ({ event }) => {
      const handle = events[event.type]
      if (handle) inOrder(() => handle(event.properties))
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      const answer = await inOrder(async () => {
        const { agent, session } = await root(sessionID)
        if (agent) return {}
        await overdue(session)
        const begins = session.begin(message.id)
        const answer = await tell("UserPromptSubmit", sessionID, { prompt, prompt_id: session.turn }, 15000)
        if (begins && answer.block) session.turn = undefined
        return answer
      })
      if (answer.block) throw new Error(answer.block)
      if (answer.context) parts.push({ id: newPartID(), sessionID, messageID: message.id, type: "text", synthetic: true, text: answer.context })
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const answer = await inOrder(() => tell("PreToolUse", sessionID, { tool_name: tool, tool_input: args, tool_use_id: callID }))
      if (answer.block) throw new Error(answer.block)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }) => {
      inOrder(() => tell("PostToolUse", sessionID, { tool_name: tool, tool_input: args, tool_use_id: callID }))
    },
    dispose: () => inOrder(async () => {
      for (const session of [...endings.keys()]) await overdue(session)
      if (current) await tell("SessionEnd", current, { reason: "exit" })
    }),
  }
}
