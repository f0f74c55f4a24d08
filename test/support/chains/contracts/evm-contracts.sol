// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

// Contracts that tests put on a chain of their own. Compiled to evm-contracts.json beside this file by solc 0.8.37,
// optimized, 200 runs, for the Paris rules.

contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 places) { decimals = places; }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) public virtual returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    /// Two transfers of one transaction, with an event of no transfer before each.
    event Note(uint256 number);
    function transferTwice(address a, address b, uint256 value) external {
        emit Note(1);
        move(msg.sender, a, value);
        emit Note(2);
        move(msg.sender, b, value + 1);
    }

    function move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "not enough");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Keeps a tenth of what is sent.
contract FeeToken is Token {
    constructor() Token(18) {}
    function transfer(address to, uint256 value) public override returns (bool) {
        move(msg.sender, to, value - value / 10);
        move(msg.sender, address(this), value / 10);
        return true;
    }
}

/// Says no instead of undoing the call, as some old tokens do.
contract FalseToken is Token {
    constructor() Token(18) {}
    function transfer(address, uint256) public pure override returns (bool) { return false; }
}

/// Behaves as it is told: 0 like a token, 1 says no and moves nothing, 2 keeps a tenth of what is sent, 3 takes a tenth
/// more from the sender, 4 writes no log, 5 undoes the call.
contract MoodyToken is Token {
    uint256 public mood;
    constructor(uint8 places) Token(places) {}
    function setMood(uint256 value) external { mood = value; }

    function transfer(address to, uint256 value) public override returns (bool) {
        if (mood == 1) return false;
        require(mood != 5, "no");
        if (mood == 4) {
            balanceOf[msg.sender] -= value;
            balanceOf[to] += value;
            return true;
        }
        move(msg.sender, to, mood == 2 ? value - value / 10 : value);
        if (mood == 2 || mood == 3) move(msg.sender, address(this), value / 10);
        return true;
    }
}

/// Returns nothing, as USDT on Ethereum does.
contract SilentToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 value) external { balanceOf[to] += value; }

    function transfer(address to, uint256 value) external {
        require(balanceOf[msg.sender] >= value, "not enough");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}

/// Counts in shares, and rounds each transfer down to whole ones: what arrives is a little less than what was sent.
contract RebasingToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    mapping(address => uint256) public shares;
    uint256 public worth = 1e18;

    function rebase(uint256 value) external { worth = value; }
    function mint(address to, uint256 value) external { shares[to] += value * 1e18 / worth; }
    function balanceOf(address owner) public view returns (uint256) { return shares[owner] * worth / 1e18; }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 moved = value * 1e18 / worth;
        shares[msg.sender] -= moved;
        shares[to] += moved;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Moves nothing to or from those on its list.
contract BlocklistToken is Token {
    mapping(address => bool) public blocked;
    constructor() Token(18) {}
    function setBlocked(address owner, bool value) external { blocked[owner] = value; }

    function transfer(address to, uint256 value) public override returns (bool) {
        require(!blocked[msg.sender] && !blocked[to], "blocked");
        return super.transfer(to, value);
    }
}

/// Writes what it likes.
contract Liar {
    event Transfer(address indexed from, address indexed to, uint256 value);
    function claim(address to, uint256 value) external { emit Transfer(msg.sender, to, value); }
}

/// A token that is no coin: its Transfer has four topics.
contract Picture {
    event Transfer(address indexed from, address indexed to, uint256 indexed id);
    function mint(address to, uint256 id) external { emit Transfer(address(0), to, id); }
}

contract Heir {
    constructor(address payable to) payable { selfdestruct(to); }
}

contract Keeper {
    constructor() payable {}
}

/// Sends coins on, in all the ways there are.
contract Forwarder {
    receive() external payable {}

    function forward(address to) external payable { send(to, msg.value); }

    function forwardEach(address[] calldata to, uint256 value) external payable {
        for (uint256 i = 0; i < to.length; i++) send(to[i], value);
    }

    /// Sends, and undoes it in an inner call; the outer one goes on.
    function forwardAndRepent(address to) external payable {
        (bool sent, ) = address(this).call{value: msg.value}(abi.encodeCall(this.forwardAndFail, (to)));
        require(!sent);
    }

    function forwardAndFail(address to) external payable {
        send(to, msg.value);
        revert("no");
    }

    /// Through a contract that is made and at once destroyed.
    function bequeath(address payable to) external payable { new Heir{value: msg.value}(to); }

    function keep() external payable returns (address) { return address(new Keeper{value: msg.value}()); }

    function send(address to, uint256 value) internal {
        (bool sent, ) = to.call{value: value}("");
        require(sent);
    }
}

/// Takes nothing.
contract Refuser {
    receive() external payable { revert("no"); }
}

/// Burns so much of the gas of a payment; more than it has undoes the payment.
contract Burner {
    uint256 public appetite;
    function setAppetite(uint256 value) external { appetite = value; }

    receive() external payable {
        uint256 before = gasleft();
        while (before - gasleft() < appetite) {}
    }
}

/// As USDT on Tron: it can be paused, has a black list and a fee, and a transfer that worked may
/// return false. Moods: 1 returns false although it worked, 2 returns false and moves nothing,
/// 3 writes its log and undoes the call, 4 uses all energy, 5 writes the log twice with half the
/// value each.
contract UsdtToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) public isBlackListed;
    bool public paused;
    uint256 public basisPointsRate;
    uint256 public mood;

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function setPaused(bool value) external { paused = value; }
    function setBlocked(address owner, bool value) external { isBlackListed[owner] = value; }
    function setFee(uint256 basisPoints) external { basisPointsRate = basisPoints; }
    function setMood(uint256 value) external { mood = value; }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return send(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (value > 0) allowance[from][msg.sender] -= value;
        return send(from, to, value);
    }

    function transferTwice(address a, address b, uint256 value) external {
        send(msg.sender, a, value);
        send(msg.sender, b, value + 1);
    }

    function send(address from, address to, uint256 value) internal returns (bool) {
        require(!paused, "paused");
        require(!isBlackListed[from] && !isBlackListed[to], "black list");
        if (mood == 2) return false;
        if (mood == 4) while (true) {}
        uint256 fee = value * basisPointsRate / 10000;
        if (fee > 0) move(from, address(this), fee);
        if (mood == 5) {
            move(from, to, (value - fee) / 2);
            move(from, to, value - fee - (value - fee) / 2);
        } else {
            move(from, to, value - fee);
        }
        require(mood != 3, "no");
        return mood != 1;
    }

    function move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "not enough");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
