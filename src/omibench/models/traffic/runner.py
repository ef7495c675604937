"""From the event loop, which runs in a separate thread, to a plain generator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread

from omibench.models.provider import Budget
from omibench.models.traffic.agenda import Agenda, PendingCall
from omibench.models.traffic.dispatch import Dispatch, Send
from omibench.models.traffic.outage import Outage
from omibench.models.traffic.progress import Progress
from omibench.models.traffic.stop import stoppable
from omibench.params.models.base import Limits
from omibench.schemas.request import Request, Response

Open = Callable[[], AbstractAsyncContextManager[Send]]
"""Opens the connection inside the loop and closes it at the end."""
STOP_S = 5.0
"""Seconds that a stopped run has to close its connections."""

Answer = tuple[Request, Response]


class JobRun:
    """One run of jobs. `progress` counts during the run; it is replaced when the loop starts.

    `stored_answers` is the number of other requests that were answered before; `outage` is the
    state of the endpoint, shared by all its runs.
    """

    def __init__(  # noqa: PLR0913, PLR0917 (what a run needs, each of another kind)
        self,
        jobs: Sequence[PendingCall],
        open_: Open,
        limits: Limits,
        budget: Budget,
        stored_answers: int = 0,
        outage: Outage | None = None,
    ) -> None:
        self._jobs, self._open, self._limits, self._budget = jobs, open_, limits, budget
        self._stored_answers, self._outage = stored_answers, outage
        self.progress = Progress(total=sum(len(job.requests) for job in jobs))
        self._answers: SimpleQueue[Answer | BaseException | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._dispatch: Dispatch | None = None
        self._stopped = False
        self._wait_s: float | None = None
        self._thread = Thread(target=self._work, name="omibench traffic", daemon=True)

    def answers(self) -> Iterator[Answer]:
        """Yield each request with its response as it arrives, each once.

        The slot of a request in flight is freed when the next answer is requested, so a killed
        process never loses more billed answers than it can have in flight. Closing the generator
        and Ctrl-C cancel the calls in flight; Ctrl-C still yields the answers that have arrived. If
        signals are watched (`models.traffic.stop`), a signal stops sending, and answers are yielded
        for `limits.drain_s` before StopSignal is raised. Raises ModelError if the endpoint rejects
        every request.
        """
        with stoppable(self._drain):
            self._thread.start()
            try:
                while True:
                    item = self._answers.get()
                    if item is None:
                        return
                    if isinstance(item, BaseException):
                        raise item
                    yield item
                    self._was_written()
            except KeyboardInterrupt:
                self._stop()
                yield from self._drain_answers()
                raise
            finally:
                self._stop()

    def _work(self) -> None:
        try:
            asyncio.run(self._main())
        except asyncio.CancelledError:
            self._answers.put(None)
        except BaseException as error:
            self._answers.put(error)
        else:
            self._answers.put(None)

    async def _main(self) -> None:
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        if self._stopped:
            return
        async with self._open() as send:
            self._dispatch = Dispatch(
                Agenda(self._jobs),
                send,
                self._limits,
                self._budget,
                lambda request, response: self._answers.put((request, response)),
                self.progress,
                self._stored_answers,
                self._outage,
            )
            if self._wait_s is not None:  # stopped while the connection was opened
                self._dispatch.stop(self._wait_s)
            await self._dispatch.run()

    def _drain(self, at_once: bool) -> None:
        self._wait_s = 0.0 if at_once else self._limits.drain_s
        if self._dispatch is not None:
            self._call(partial(self._dispatch.stop, self._wait_s))

    def _was_written(self) -> None:
        if self._loop is not None and self._dispatch is not None:
            self._call(self._dispatch.note_written)

    def _stop(self) -> None:
        self._stopped = True
        if not self._thread.is_alive():
            return
        if self._task is not None:
            self._call(self._task.cancel)
        self._thread.join(STOP_S)

    def _call(self, callback: Callable[[], object]) -> None:
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(callback)
        except RuntimeError:  # the loop ended by itself
            pass

    def _drain_answers(self) -> Iterator[Answer]:
        while True:
            try:
                item = self._answers.get_nowait()
            except Empty:
                return
            if isinstance(item, tuple):
                yield item
