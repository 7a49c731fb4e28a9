"""Which words mean what in progress lines: names of counters, losses, times, and of what is not training. Data only."""


def _names(text: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in text.split(","))


STEP: dict[str, float] = {
    **dict.fromkeys(
        _names("""
    global step, global iter, global iteration, global step/max steps, trainer/global step, training/global step
    """),
        9,
    ),
    **dict.fromkeys(
        _names("""
    num updates, optimizer step, opt step, optim step, update step, training step, train step, training
    iteration, train iter, train iteration, completed step, 训练步
    """),
        8,
    ),
    **dict.fromkeys(
        _names("""
    step
    """),
        7,
    ),
    **dict.fromkeys(
        _names("""
    completed, steps, iteration, 步数
    """),
        6,
    ),
    **dict.fromkeys(
        _names("""
    iter, iters, iter num, 迭代, 步
    """),
        5,
    ),
    **dict.fromkeys(
        _names("""
    it, itr, update, updates, up, train batch
    """),
        4,
    ),
    **dict.fromkeys(
        _names("""
    batch, batch idx, mini batch, minibatch, mini-batch, batches, 批次
    """),
        3,
    ),
    **dict.fromkeys(
        _names("""
    tick, micro step
    """),
        2,
    ),
    **dict.fromkeys(
        _names("""
    inner iter
    """),
        1,
    ),
}
"""Names of the step, the more telling the higher."""
WITH_TOTAL = 4
"""What a count with a total is worth above one without."""
EPOCH: dict[str, float] = {
    **dict.fromkeys(
        _names("""
    epoch, cur epoch, current epoch, data epochs, data epoch, train epoch, training epoch, training/epoch,
    train/epoch, trainer/epoch, time/epoch, 轮次
    """),
        5,
    ),
    **dict.fromkeys(
        _names("""
    epochs, ep, pass, 轮
    """),
        4,
    ),
    **dict.fromkeys(
        _names("""
    episode
    """),
        2,
    ),
    **dict.fromkeys(
        _names("""
    第
    """),
        1,
    ),
}
"""Names of the epoch."""
TOTAL_STEPS = _names("""
    max iters, max steps, num steps, total, total iterations, total iters, total step, total steps
""")
"""Names of the total of steps."""
LOSS: dict[str, float] = {
    **dict.fromkeys(
        _names("""
    total loss, tot loss, loss total, loss/total, loss/total loss, loss/train/total, losses/total loss,
    train/total loss
    """),
        11,
    ),
    **dict.fromkeys(
        _names("""
    loss
    """),
        10,
    ),
    **dict.fromkeys(
        _names("""
    train loss, training loss, loss train, train/loss, train/train loss, training/loss, loss/train, reduced
    train loss, lm loss, actor/loss, train loss step, lm-loss, 损失, 训练损失
    """),
        9,
    ),
    **dict.fromkeys(
        _names("""
    step loss, batch loss, loss step, current loss, gpt loss, language model loss
    """),
        8,
    ),
    **dict.fromkeys(
        _names("""
    loss avg, avg loss, avr loss, average loss, mean loss, loss mean, running loss
    """),
        6,
    ),
    **dict.fromkeys(
        _names("""
    cost, train cost
    """),
        5,
    ),
    **dict.fromkeys(
        _names("""
    ce
    """),
        2,
    ),
}
"""Names of the loss, the total before its parts."""
NO_LOSS = _names("""
    adv, aux, balance, balancing, bbox, best, box, cls, conf, critic, d, dfl, disc, discriminator, entropy,
    final, g, gen, generator, giou, iou, kl, l1, lowest, mask, min, mtp, obj, pg, policy, reg, router, rpn,
    scale, scaling, target, value, vf, z
""")
"""Words that make a loss another number, or a part of the loss only."""
SECONDS: dict[str, float] = {
    **dict.fromkeys(
        _names("""
    elapsed time per iteration, elapsed time per step, elapsed time per iteration ms, step time ms, iteration
    time ms, time per iteration, time per step, time/batch, time per batch, time/iteration, time/step,
    time/iter, per step time, per-step time, step time, steptime, iter time, iteration time, train step timing
    in s, train step timing, train step time, step duration, perf/time per step, train speed, sec/step,
    secs/step, sec/iter, s/it, s/step, s/iter, ms/step, ms/iter, ms/batch, s/batch, sec/batch, seconds per step,
    seconds/step, 每步耗时
    """),
        9,
    ),
    **dict.fromkeys(
        _names("""
    avg step time, average step time, step avg, batch cost, avg batch cost, batch time, timing s/step,
    timing/step, iter dt
    """),
        8,
    ),
    **dict.fromkeys(
        _names("""
    dt
    """),
        7,
    ),
    **dict.fromkeys(
        _names("""
    time ms, seconds
    """),
        5,
    ),
    **dict.fromkeys(
        _names("""
    time
    """),
        4,
    ),
}
"""Names of the time of one step. `time` counts beside a step only: beside an epoch it is the epoch's."""
BARE_TIMES = _names("""
    batch time, seconds, time
""")
"""Names that say no more than that it is a time."""
RATES = _names("""
    batch/s, batches per sec, batches per second, batches/s, batches/sec, interval steps per second, it per sec,
    it/s, it/sec, iter/s, iter/sec, iteration/s, iterations per second, iterations/s, iterations/sec, iters per
    sec, iters/s, iters/sec, step/s, step/sec, steps per sec, steps per second, steps/s, steps/sec,
    steps/second, throughput/batches per sec, train steps per second, updates per sec, updates/s, ups
""")
"""Names of steps in a second."""
ETA: dict[str, float] = {
    **dict.fromkeys(
        _names("""
    time/remaining estimate
    """),
        3600,
    ),
    **dict.fromkeys(
        _names("""
    eta, remaining, remaining time, time remaining, time left, left, left time, est remaining, estimated time
    remaining, eta seconds, train eta, 剩余时间, 预计剩余
    """),
        1,
    ),
}
"""Names of the time left, each with the unit of a bare number in seconds."""
EVIDENCE = _names("""
    lr, learning rate, rate, grad norm, gnorm, norm, throughput, tps, tok/s, tok/sec, tokens/s, tokens/sec,
    tokens per sec, tokens per second, samples/sec, samples/s, samplespersec, ips, wps, mfu, tflops, ppl, acc,
    accuracy, reward, reward/mean, rewards/mean, mem, memory, loss scale, speed, 学习率
""")
"""Beside a step, each of these says that it is a progress line."""
NOT_A_COUNTER = _names("""
    accum, accumulation, after, at, before, begin, best, consumed, eval, every, from, last, latest, log,
    logging, max, maximum, nan, num, number, per, remaining, resume, save, saving, skip, skipped, start, total,
    until, warmup
""")
"""Words that make a counter's name the name of something else."""
EVALUATION = _names("""
    cv, dev, eval, evaluate, evaluating, evaluation, evaluator, holdout, infer, inference, predict, predicting,
    prediction, sanity, test, tested, testing, val, valid, validate, validating, validation, 测试, 评估, 验证
""")
"""Words of an evaluation."""
RESULTS = _names("""
    result, results, summary
""")
"""Words in front of what an evaluation found, of training data too."""
SAVING = _names("""
    checkpoint, checkpointing, checkpoints, ckpt, dump, dumping, exporting, save, saved, saving, write, writing,
    wrote, 保存
""")
"""Words of saving."""
SETTINGS = _names("""
    args, arguments, argument, config, configuration, configs, namespace, options, hparams, hyperparameters, settings
""")
"""Words in front of settings."""
RESTORING = _names("""
    end, finished,
    best, converting, download, downloading, early, load, loaded, loading, restore, restored, restoring, resume,
    resumed, resuming, skipping
""")
"""Words of a file or a state that is read again, or of a mean over what is over."""
TOKENISING = _names("""
    adding, applying, casting, converting, creating, extracting, filter, filtering, flattening, generating,
    grouping, map, packing, preprocess, preprocessing, tokenisation, tokenising, tokenization, tokenize,
    tokenizer, tokenizing, truncating
""")
"""Words of preparing data."""
COMPILING = _names("""
    autotune, autotuning, building, capturing, compilation, compile, compiled, compiling, graph, tuning
""")
"""Words of compiling."""
TRAINING = _names("""
    batch, dpo, episode, episodes, epoch, epochs, finetune, finetuning, fit, fitting, grpo, iter, iteration,
    iterations, iters, optimization, optimizing, ppo, pretrain, pretraining, progress, sft, step, steps, train,
    trained, training, update, updates, 学习, 训练
""")
"""Words of a bar of training."""
FITTING = _names("""
    finetuning, fit, fitting, pretraining, stage, train, trained, trainer, training, 训练
""")
"""Words of training that are no counter."""
ROLLOUT = _names("""
    denoising, generate, generation, make_experience, prompts, requests, rollout, rollouts, sample, sampling
""")
"""Words of generating samples to train on."""
