"""What people of the showcase wrote, in the language it is shown in."""

from headway.domain.errors import Language

WORDS: dict[str, dict[Language, str]] = {
    "quota-first": {"zh": "第四季度配额", "en": "quota of the fourth quarter"},
    "quota-next": {
        "zh": "语音组评测结束，归还 8 张给视觉组",
        "en": "speech has finished its evaluation: 8 cards go back to vision",
    },
    "grant-release": {"zh": "版本发布前对比实验", "en": "comparison runs before the release"},
    "grant-ok": {"zh": "发布优先", "en": "the release goes first"},
    "grant-rlhf": {"zh": "RLHF 长训，需要整机 4 台", "en": "long RLHF run on four whole nodes"},
    "grant-demo": {"zh": "客户演示前补训检测模型", "en": "retrain the detector before a customer demo"},
    "grant-sweep": {"zh": "学习率扫描", "en": "learning rate sweep"},
    "grant-no": {"zh": "本周无余量，可用空闲配额排队", "en": "nothing left this week; queue on idle quota"},
    "cordon": {"zh": "一天内四次掉卡，待复测", "en": "lost a card four times in a day, to be tested again"},
    "fan": {"zh": "更换风扇", "en": "fan being replaced"},
    "down": {"zh": "带外管理无响应", "en": "no answer over its management port"},
    "canary": {
        "zh": "chat-7b@2 先放 5 %，看首字延迟与错误率",
        "en": "5 % for chat-7b@2 first, watching first-token latency and errors",
    },
    "widen": {"zh": "首字延迟与错误率合格，放量", "en": "first-token latency and errors are fine, more traffic"},
    "seen": {"zh": "已看，正在等数据组修复存储挂载", "en": "seen; the data group is mending the mount"},
    "dataset": {"zh": "去重后的中英语料", "en": "deduplicated Chinese and English text"},
    "maintenance": {"zh": "机房配电检修", "en": "power maintenance of the hall"},
}


def said(key: str, language: Language) -> str:
    """The sentence under a key."""
    return WORDS[key][language]
