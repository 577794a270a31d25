ALTER TABLE "connect_sessions" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "connect_sessions" ADD COLUMN "opener_mac" text;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "mac" text;